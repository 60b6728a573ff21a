import type { Poll } from '../../model/poll.ts';
import { toIsoTime } from '../times.ts';
import type { CardPayload } from './payload.ts';

const maxChoices = 4;

/** Gives the poll of a card such as `poll2choice_text_only`; null when the card is something else. */
export function shapePoll(card: CardPayload | null): Poll | null {
  if (card === null || !/^poll\d/.test(card.name ?? '')) return null;
  const tell = (key: string) => card.binding_values[key]?.string_value ?? null;
  const choices = [];
  for (let number = 1; number <= maxChoices; number += 1) {
    const label = tell(`choice${number}_label`);
    if (label !== null) choices.push({ label, count: readCount(tell(`choice${number}_count`)) });
  }
  const counts = choices.map(({ count }) => count).filter((count) => count !== null);
  const total = counts.length < choices.length ? null : counts.reduce((sum, n) => sum + n, 0);
  return {
    choices: choices.map((choice) => ({ ...choice, percentage: shareOf(choice.count, total) })),
    total_votes: total,
    ends_at: toIsoTime(tell('end_datetime_utc')),
  };
}

function readCount(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function shareOf(count: number | null, total: number | null): number | null {
  if (count === null || total === null) return null;
  return total === 0 ? 0 : Math.round((1000 * count) / total) / 10;
}
