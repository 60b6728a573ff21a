import type { Post } from '../../model/post.ts';
import type { Page, PageSpan } from '../../model/queries.ts';

/** The place in a timeline that a page is asked for by. */
export interface PagePlace {
  /** The provider's cursor; `null` if the timeline is entered by `untilSeconds`, or at the top. */
  readonly cursor: string | null;
  readonly untilSeconds: number | null;
}

/**
 * Returns the part of a timeline that a page covers, as its source tells. Otherwise it begins where
 * it was
 * entered, and ends with the last post that has a time of its own; a repost has that of the
 * original.
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

/** Returns how many rows the source sent. */
export function rowsOf({ rows, items }: Page<Post>): number {
  return rows ?? items.length;
}

/** Returns whether a post stands at the time that it carries. */
export function hasOwnTime(post: Post): post is Extract<Post, { type: 'status' }> {
  return post.type === 'status' && post.reposted_by === null;
}

/** Returns the second of the oldest post that stands in its place; infinite if there is none. */
export function oldestOf(posts: readonly Post[], { toMs }: PageSpan): number {
  const seconds = posts.filter(hasOwnTime).map((post) => post.created_timestamp);
  const inPlace = seconds.filter((second) => second * 1000 + 999 >= (toMs ?? 0));
  return Math.min(...inPlace, Number.POSITIVE_INFINITY);
}
