import { mapWithPauses } from '../core/scheduling/map-with-pauses.ts';
import type { Post, Status } from '../model/post.ts';
import type { Page, PostFound, SearchQuery } from '../model/queries.ts';
import { maximums } from '../platforms/maximums.ts';

export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly unreadable: number;
  /** Number of list items beyond the maximum. These items were not parsed. */
  readonly excess: number;
}

/** Parses items, and counts malformed ones. Returns `null` if `list` is not an array. */
export async function parseRows<Row>(
  list: unknown,
  parseRow: (row: unknown) => Row | null,
): Promise<Rows<Row> | null> {
  if (!Array.isArray(list)) return null;
  const sent = list.slice(0, maximums.rows);
  const rows = (await mapWithPauses(sent, parseRow)).filter((row) => row !== null);
  return { rows, unreadable: sent.length - rows.length, excess: list.length - sent.length };
}

/** Returns the number of list items that the source sent, including malformed and excess items. */
export const countSent = ({ rows, unreadable, excess }: Rows<unknown>): number =>
  rows.length + unreadable + excess;

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

export const uniqueById = <Row extends { readonly id: string | null }>(rows: readonly Row[]) =>
  uniqueBy(rows, ({ id }) => id);

/** Returns whether a post is in the time range and has the media that `feed` requires. */
export function isHit({ created_timestamp, media }: Status, query: SearchQuery): boolean {
  const { feed, sinceSeconds, untilSeconds } = query;
  if (sinceSeconds !== null && created_timestamp < sinceSeconds) return false;
  if (untilSeconds !== null && created_timestamp >= untilSeconds) return false;
  return (feed !== 'photos' && feed !== 'videos') || media[feed].length > 0;
}

const plurals = { post: 'posts', account: 'accounts', reply: 'replies' } as const;
export type RowNoun = keyof typeof plurals;

/** Returns a list with one warning that `count` items were omitted; empty if `count` is 0. */
export function describeOmitted(
  count: number,
  noun: RowNoun,
  [one, many = one]: readonly [one: string, many?: string],
): readonly string[] {
  if (count === 0) return [];
  if (count === 1) return [`1 ${noun} is missing, because ${one}.`];
  return [`${count} ${plurals[noun]} are missing, because ${many}.`];
}

export const describeExcess = (count: number, noun: RowNoun): readonly string[] =>
  describeOmitted(count, noun, [
    `Perch reads at most ${maximums.rows} items in one response of the source`,
  ]);

export function describeUnread(
  { unreadable, excess }: Pick<Rows<unknown>, 'unreadable' | 'excess'>,
  noun: RowNoun,
): readonly string[] {
  const unread = 'the source sent unreadable data for';
  return [
    ...describeOmitted(unreadable, noun, [`${unread} it`, `${unread} them`]),
    ...describeExcess(excess, noun),
  ];
}

/** Converts a post with its replies to a page of replies. The page has no next page. */
export function toRepliesPage({ post, replies, warnings, asOfMs }: PostFound): Page<Post> {
  // Placeholders are not listed, because they may lack the id that identifies an item.
  const items = replies.filter(({ type }) => type === 'status');
  const hidden = describeOmitted(replies.length - items.length, 'reply', [
    'the source does not show it to the public',
    'the source does not show them to the public',
  ]);
  const page = { items, cursor: null, answered: post, warnings: [...warnings, ...hidden] };
  return asOfMs === undefined ? page : { ...page, asOfMs };
}
