import { mapInSlices, type Sliced } from '../core/scheduling/slices.ts';
import type { Post, Status } from '../model/post.ts';
import type { Page, PostFound, SearchQuery } from '../model/queries.ts';
import { maximums } from '../platforms/maximums.ts';

/** The rows of a list that were read, and how many were not. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly unreadable: number;
  readonly beyond: number;
}

/** Reads a list row by row, so that an unreadable row costs only itself. Returns `null` for anything else. */
export async function parseRows<Row>(
  list: unknown,
  parseRow: (row: unknown) => Row | null,
  sliced: Sliced,
): Promise<Rows<Row> | null> {
  if (!Array.isArray(list)) return null;
  const sent = list.slice(0, maximums.rows);
  const rows = (await mapInSlices(sent, parseRow, sliced)).filter((row) => row !== null);
  return { rows, unreadable: sent.length - rows.length, beyond: list.length - sent.length };
}

export function countSent({ rows, unreadable, beyond }: Rows<unknown>): number {
  return rows.length + unreadable + beyond;
}

export function uniqueBy<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string | null,
  seen = new Set<string>(),
): readonly Row[] {
  return rows.filter((row) => {
    const key = keyOf(row);
    if (key === null) return true;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

export function uniqueById<Row extends { readonly id: string | null }>(rows: readonly Row[]) {
  return uniqueBy(rows, ({ id }) => id);
}

/** Returns whether a post found by a search is from its time and has the media of its feed. */
export function isHit({ created_timestamp, media }: Status, query: SearchQuery): boolean {
  const { feed, sinceSeconds, untilSeconds } = query;
  if (sinceSeconds !== null && created_timestamp < sinceSeconds) return false;
  if (untilSeconds !== null && created_timestamp >= untilSeconds) return false;
  return (feed !== 'photos' && feed !== 'videos') || media[feed].length > 0;
}

const plurals = { post: 'posts', account: 'accounts', reply: 'replies' } as const;

export type RowNoun = keyof typeof plurals;

/** Returns the warning for rows that are left out; `because` is the reason of one, and of several if it differs. */
export function tellOmitted(
  count: number,
  noun: RowNoun,
  [one, many = one]: readonly [one: string, many?: string],
): readonly string[] {
  if (count === 0) return [];
  if (count === 1) return [`1 ${noun} is left out, because ${one}.`];
  return [`${count} ${plurals[noun]} are left out, because ${many}.`];
}

export function tellBeyond(count: number, noun: RowNoun): readonly string[] {
  return tellOmitted(count, noun, [`a list of more than ${maximums.rows} is not read to its end`]);
}

export function tellUnread(
  { unreadable, beyond }: Pick<Rows<unknown>, 'unreadable' | 'beyond'>,
  noun: RowNoun,
): readonly string[] {
  const nothing = 'the source sent nothing readable for';
  return [
    ...tellOmitted(unreadable, noun, [`${nothing} it`, `${nothing} them`]),
    ...tellBeyond(beyond, noun),
  ];
}

/** Returns the replies that a source has sent with a post, as the one page of their list. */
export function toRepliesPage({ post, replies, warnings, asOfMs }: PostFound): Page<Post> {
  // Placeholders may have no id, and a list has each item once.
  const items = replies.filter(({ type }) => type === 'status');
  const because = 'the source does not show them to the public';
  const hidden = tellOmitted(replies.length - items.length, 'reply', [because]);
  const page = { items, cursor: null, answered: post, warnings: [...warnings, ...hidden] };
  return asOfMs === undefined ? page : { ...page, asOfMs };
}
