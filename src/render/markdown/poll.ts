import type { Poll } from '../../model/poll.ts';
import { escapeCell } from './escape.ts';
import { formatCount, formatMinute, formatNumber } from './figures.ts';
import { joinBlocks, joinFacts } from './layout.ts';

/** Gives a poll as a table, and below it its votes and its end as seen at `fetchedAt` (ISO 8601). */
export function renderPoll(poll: Poll, fetchedAt: string): string {
  const rows = poll.choices.map(({ label, count, percentage }) => {
    const votes = count === null ? '–' : formatNumber(count);
    const share = percentage === null ? '–' : `${percentage.toFixed(1)}%`;
    return `| ${escapeCell(label)} | ${votes} | ${share} |`;
  });
  const table = ['| Choice | Votes | Share |', '| --- | ---: | ---: |', ...rows].join('\n');
  const votes = formatCount(poll.total_votes, 'vote', 'votes');
  const voters = formatCount(poll.total_voters ?? null, 'voter', 'voters');
  const end = poll.ends_at === null ? null : describeEnd(poll.ends_at, fetchedAt);
  return joinBlocks([table, joinFacts([votes, voters, end])]);
}

function describeEnd(endsAt: string, fetchedAt: string): string {
  const isClosed = Date.parse(endsAt) <= Date.parse(fetchedAt);
  return `${isClosed ? 'closed' : 'closes'} ${formatMinute(endsAt)}`;
}
