import { mapWithPauses } from '../lib/scheduling/map.ts';
import type { Post, Status } from '../model/post.ts';
import type { Page, PostFound, SearchQuery } from '../model/queries.ts';
import { maximums } from '../normalize/maximums.ts';

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
  sender = 'source',
): readonly string[] {
  const unread = `the ${sender} sent unreadable data for`;
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

interface ThreadForm<Row> {
  readonly parentOf: (row: Row) => string | null;
  readonly authorOf: (row: Row) => string;
  readonly likesOf: (row: Row) => number | null;
  readonly byOldest: (a: Row, b: Row) => number;
}

interface Ranking<Row> {
  /** Ids of the posts whose direct replies are sorted by `order`; `null` for unknown ids. */
  readonly answeredIds: readonly (string | null)[];
  readonly order: 'top' | 'recent';
  readonly others?: readonly Row[];
}

export function createThreadOrder<Row extends { readonly id: string }>(form: ThreadForm<Row>) {
  const { parentOf, authorOf, likesOf, byOldest } = form;
  const groupByParent = (rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> => {
    const groups = new Map<string, Row[]>();
    for (const row of rows.toSorted(byOldest)) {
      const parent = parentOf(row);
      if (parent === null || parent === row.id) continue;
      const group = groups.get(parent);
      if (group === undefined) groups.set(parent, [row]);
      else group.push(row);
    }
    return groups;
  };
  const isOwn = (row: Row, focal: Row) => row.id !== focal.id && authorOf(row) === authorOf(focal);
  const byLikes = (a: Row, b: Row) => (likesOf(b) ?? -1) - (likesOf(a) ?? -1) || byOldest(a, b);
  return {
    /** Returns the author's first reply to `focal`, the author's first reply to it, and so on. */
    pickContinuation: (focal: Row, rows: readonly Row[]): readonly Row[] => {
      const own = groupByParent(rows.filter((row) => isOwn(row, focal)));
      const chain = new Map([[focal.id, focal]]);
      let next = own.get(focal.id)?.[0];
      while (next !== undefined && !chain.has(next.id)) {
        chain.set(next.id, next);
        next = own.get(next.id)?.[0];
      }
      return [...chain.values()].slice(1);
    },
    /** Returns replies to `answeredIds` by `order`, then `others`, each followed by its replies. */
    rankReplies: (rows: readonly Row[], { answeredIds, order, others = [] }: Ranking<Row>) => {
      const byParent = groupByParent(rows);
      const direct = answeredIds
        .flatMap((id) => byParent.get(id ?? '') ?? [])
        .sort(order === 'top' ? byLikes : (a, b) => byOldest(b, a));
      const found: Row[] = [];
      const waiting = [...direct, ...others].reverse();
      // Each row has one parent, so no row is visited twice and cycles are not reached.
      for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
        found.push(row);
        waiting.push(...(byParent.get(row.id)?.toReversed() ?? []));
      }
      return found;
    },
  };
}
