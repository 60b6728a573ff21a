import type { Account } from '../../model/account.ts';
import type { Media } from '../../model/media.ts';
import type { Poll } from '../../model/post.ts';
import { toLine } from '../markdown/characters.ts';
import { formatCount, formatDuration, formatMinute } from '../markdown/figures.ts';
import { describePositions } from '../markdown/media.ts';

/** Gives an account's name as plain text, or its handle where it has none. */
export function callAccount(account: Account): string {
  return toLine(account.name) || `@${toLine(account.screen_name)}`;
}

/** Gives a moment to the minute as plain text; the text itself if it is none. */
export function describeMinute(time: string): string {
  return Number.isNaN(Date.parse(time)) ? toLine(time) : formatMinute(time);
}

const kinds = { photo: 'Photo', video: 'Video', gif: 'GIF', audio: 'Audio' } as const;

/** Says as plain text what each item of a post's media is and what its author says of it. */
export function describeMedia(all: readonly Media[]): readonly string[] {
  const positions = describePositions(all);
  return all.map((item, at) => {
    const alt = toLine(item.alt ?? '');
    const said = alt === '' ? '' : `: ${alt}`;
    return `${kinds[item.type]}${alt === '' ? positions[at] : ''}${lengthOf(item)}${said}`;
  });
}

function lengthOf({ type, duration = null }: Media): string {
  const isTimed = type === 'video' || type === 'audio';
  return isTimed && duration !== null ? `, ${formatDuration(duration)}` : '';
}

/** Gives each choice of a poll as plain text with its share where that is known. */
export function describeChoices(poll: Poll): readonly string[] {
  return poll.choices.map(({ label, percentage }) => {
    const share = percentage === null ? '' : ` (${percentage.toFixed(1)}%)`;
    return `${toLine(label)}${share}`;
  });
}

/** Gives the votes of a poll and its end as plain text; empty where neither is known. */
export function describeVotes(poll: Poll): string {
  const end = poll.ends_at === null ? null : `until ${describeMinute(poll.ends_at)}`;
  const voters = formatCount(poll.total_voters ?? null, 'voter', 'voters');
  return [formatCount(poll.total_votes, 'vote', 'votes'), voters, end]
    .filter((fact) => fact !== null)
    .join(', ');
}
