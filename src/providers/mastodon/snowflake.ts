import type { StatusPayload } from './payload.ts';

// Ids of Mastodon hold a time: milliseconds since the epoch above 16 bits that tell posts of one
// moment apart (its source, `Mastodon::Snowflake`). Other software counts otherwise.

const belowTime = 16n;

/** A post that a server fetched late can have the id of another moment than the one it says. */
const maxDriftMs = 3_600_000;

/** Gives an id such that every post with a lesser one is from before a moment. */
export function idBefore(ms: number): string {
  return String(BigInt(Math.max(0, Math.trunc(ms))) << belowTime);
}

/** Tells whether the ids of posts hold the times of most of those posts; false where there are none. */
export function haveTimes(rows: readonly StatusPayload[]): boolean {
  const near = rows.filter((row) => isCounted(row) && isNear(row.id, row.createdMs));
  return rows.every(isCounted) && near.length * 2 > rows.length;
}

/** Tells whether an id is a number, as all are where ids hold times; the oldest ones were counted. */
export function isCounted({ id }: Pick<StatusPayload, 'id'>): boolean {
  return /^\d{1,19}$/.test(id);
}

function isNear(id: string, createdMs: number): boolean {
  return Math.abs(Number(BigInt(id) >> belowTime) - createdMs) <= maxDriftMs;
}
