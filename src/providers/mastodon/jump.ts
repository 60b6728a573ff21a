import type { StatusPayload } from './payload.ts';
import type { PageRows } from './rows.ts';

/** Reads the page of a list of posts that begins at a place; null for its beginning. */
type ReadPage = (cursor: string | null) => Promise<PageRows<StatusPayload>>;

/** Where a read begins: at the provider's own place, else before a moment, if one is given. */
export interface Beginning {
  readonly cursor: string | null;
  readonly untilSeconds: number | null;
}

/**
 * Reads a page of posts, newest first. What is newer than the end of the time is jumped over by a
 * made-up id, where the ids of the server hold times. Otherwise the list is read from its beginning.
 */
export async function readBefore(
  { cursor, untilSeconds }: Beginning,
  read: ReadPage,
): Promise<PageRows<StatusPayload>> {
  if (cursor !== null || untilSeconds === null) return read(cursor);
  const jumped = await read(idBefore(untilSeconds * 1000));
  if (haveTimes(jumped.rows)) return jumped;
  const first = await read(null);
  // Where ids hold times now, an empty page has nothing before it, and older ids were counted.
  return haveTimes(first.rows) && jumped.rows.every(isCounted) ? jumped : first;
}

/** Drops what is from the end of the time on; a boost counts as from when it was made. */
export function dropLater(
  rows: readonly StatusPayload[],
  untilSeconds: number | null,
): readonly StatusPayload[] {
  return untilSeconds === null
    ? rows
    : rows.filter(({ createdMs }) => createdMs < untilSeconds * 1000);
}

// Ids of Mastodon hold a time: milliseconds since the epoch above 16 bits that tell posts of one
// moment apart (its source, `Mastodon::Snowflake`). Other software counts otherwise.

const belowTime = 16n;

/** A post that a server fetched late can have the id of another moment than the one it says. */
const maxDriftMs = 3_600_000;

/** Gives an id such that every post with a lesser one is from before a moment. */
function idBefore(ms: number): string {
  return String(BigInt(Math.max(0, Math.trunc(ms))) << belowTime);
}

/** Tells whether the ids of posts hold the times of most of those posts; false where there are none. */
function haveTimes(rows: readonly StatusPayload[]): boolean {
  const near = rows.filter((row) => isCounted(row) && isNear(row.id, row.createdMs));
  return rows.every(isCounted) && near.length * 2 > rows.length;
}

/** Tells whether an id is a number, as all are where ids hold times; the oldest ones were counted. */
function isCounted({ id }: Pick<StatusPayload, 'id'>): boolean {
  return /^\d{1,19}$/.test(id);
}

function isNear(id: string, createdMs: number): boolean {
  return Math.abs(Number(BigInt(id) >> belowTime) - createdMs) <= maxDriftMs;
}
