import type { Clock } from '../../core/clock.ts';
import type { BlueskyClient } from './client.ts';
import type { KnownAccounts } from './known-accounts.ts';

/** What the reads of one provider share. */
export interface Reading {
  readonly client: BlueskyClient;
  readonly known: KnownAccounts;
  readonly clock: Clock;
}

/** The most rows that a list is asked for at once (lexicons `app.bsky.feed.getAuthorFeed` and others). */
const maxLimit = 100;

/** Gives a `limit` that every list accepts. */
export function writeLimit(count: number): number {
  return Math.min(Math.max(Math.trunc(count), 1), maxLimit);
}

/** The `limit` for lists of which some rows are left out here. */
export const wholeLimit = maxLimit;

/** Gives where a list goes on; null at its end, also where the answer names the place it came from. */
export function nextCursor(cursor: unknown, sent: string | null): string | null {
  return typeof cursor === 'string' && cursor !== '' && cursor !== sent ? cursor : null;
}

/** Gives the first row for each key. */
export function uniqueBy<Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly Row[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const key = keyOf(row);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}
