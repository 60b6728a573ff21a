import type { Poll } from '../../model/poll.ts';
import { toIsoTime } from '../times.ts';
import type { CardPayload } from './payload.ts';

/** Tells whether a card is a poll, such as `poll2choice_text_only`. */
export function isPoll({ name }: CardPayload): boolean {
  return /^poll\d/.test(name ?? '');
}

/** Returns the poll of a card; `null` for a card of another kind. */
export function shapePoll(card: CardPayload | null): Poll | null {
  if (card === null || !isPoll(card)) return null;
  const { binding_values: values } = card;
  const choices = [
    [values.choice1_label, values.choice1_count] as const,
    [values.choice2_label, values.choice2_count] as const,
    [values.choice3_label, values.choice3_count] as const,
    [values.choice4_label, values.choice4_count] as const,
  ].flatMap(([label, count]) => (label === null ? [] : [{ label, count: readCount(count) }]));
  const counts = choices.map(({ count }) => count).filter((count) => count !== null);
  const total = counts.length < choices.length ? null : counts.reduce((sum, n) => sum + n, 0);
  return {
    choices: choices.map((choice) => ({ ...choice, percentage: shareOf(choice.count, total) })),
    total_votes: total,
    ends_at: toIsoTime(values.end_datetime_utc),
  };
}

function readCount(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

function shareOf(count: number | null, total: number | null): number | null {
  if (count === null || total === null) return null;
  return total === 0 ? 0 : Math.round((1000 * count) / total) / 10;
}
