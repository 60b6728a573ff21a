import type { StatusPayload } from './payload.ts';
import type { PageRows } from './rows.ts';
import { haveTimes, idBefore, isCounted } from './snowflake.ts';

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
