import type { Post } from '../../model/post.ts';
import type { Page, PageSpan } from '../../model/queries.ts';

/** Where a page of a timeline was asked for. */
export interface PagePlace {
  /** The provider's cursor; null where it is entered by `untilSeconds`, or at the top. */
  readonly cursor: string | null;
  readonly untilSeconds: number | null;
}

/**
 * Gives the part of a timeline that a page covers: what its source tells, else what its posts tell. Then
 * a page that was entered at a moment begins there if it has posts, and ends with the second of the
 * last of them that carries a time of its own; a repost carries that of the original.
 */
export function spanOf(page: Page<Post>, { cursor, untilSeconds }: PagePlace): PageSpan {
  // The first post of a list may be pinned and then is out of its place.
  const last = page.items.slice(1).findLast(hasOwnTime);
  // The last page of a timeline has all that there is.
  const isTold = last !== undefined && page.cursor !== null;
  const lastMs = isTold ? last.created_timestamp * 1000 + 999 : null;
  if (page.span !== undefined) return { ...page.span, toMs: page.span.toMs ?? lastMs };
  const isEntered = cursor === null && untilSeconds !== null && page.items.length > 0;
  return {
    fromMs: isEntered ? untilSeconds * 1000 : null,
    toMs: lastMs,
    isWhole: page.isExact === true || page.isDoubtful !== true,
  };
}

/** Gives how many rows the source sent. */
export function rowsOf({ rows, items }: Page<Post>): number {
  return rows ?? items.length;
}

/** A post that stands at the time that it carries. */
export type TimedPost = Extract<Post, { type: 'status' }>;

/** Tells whether a post stands at the time that it carries. */
export function hasOwnTime(post: Post): post is TimedPost {
  return post.type === 'status' && post.reposted_by === null;
}

/** Tells whether a page begins at the moment that it was asked for by. */
export function isEntered({ cursor }: PagePlace, { fromMs }: PageSpan): boolean {
  return cursor === null && fromMs !== null;
}

/** Gives the second of the oldest post that stands in its place; infinite where there is none. */
export function oldestOf(posts: readonly Post[], { toMs }: PageSpan): number {
  const seconds = posts.filter(hasOwnTime).map((post) => post.created_timestamp);
  return Math.min(
    ...seconds.filter((second) => second * 1000 + 999 >= (toMs ?? 0)),
    Number.POSITIVE_INFINITY,
  );
}
