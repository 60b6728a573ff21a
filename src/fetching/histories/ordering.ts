import type { KeptPost } from '../../archive/histories/history-keep.ts';
import type { Post } from '../../model/post.ts';
import type { PageSpan } from '../../model/queries.ts';
import { postKey } from '../cache/post-key.ts';
import { hasOwnTime, type TimedPost } from './page-span.ts';

/** Which of the posts that are found are given. */
export interface Wanted {
  readonly sinceSeconds: number | null;
  readonly untilSeconds: number | null;
  readonly maxPosts: number;
  /** Leaves out what is no answer to somebody else. */
  readonly onlyReplies: boolean;
}

/** A post with its place: the second that it stands at, which a repost takes from what is above it. */
export interface PlacedPost {
  readonly post: Post;
  /** Unix seconds; infinite where all above it are reposts, too. */
  readonly second: number;
  /** When it was fetched, in Unix seconds, where that was for an earlier import; else null. */
  readonly stored: number | null;
}

/** Puts posts that are found in any order into that of the timeline. */
export interface Ordering {
  /** Adds the posts of a page. */
  add(posts: readonly Post[], span: PageSpan): void;
  /** Adds posts that are kept from an earlier import, newest first. */
  addKept(posts: readonly KeptPost[]): void;
  /** Gives the posts that are newer than the moment above which all has been read, newest first. */
  release(frontierMs: number): readonly PlacedPost[];
  /** How many posts are found: those that were given, and those that wait. */
  readonly found: number;
  /** How many of them stand above a moment. */
  foundAbove(ms: number): number;
  readonly given: number;
  /** Whether as many were given as are wanted, and others were found. */
  readonly isCut: boolean;
  /** How many reposts may have been made before the range begins. */
  readonly unsettled: number;
  /** Decides about them: those with these keys stand below the range. */
  settle(below: ReadonlySet<string>): void;
}

interface Found extends PlacedPost {
  /** Orders the posts of one second as they came. */
  readonly number: number;
  readonly isUnsettled: boolean;
}

/** Creates an ordering without posts. Each post is given once, at its newest place. */
export function createOrdering(wanted: Wanted): Ordering {
  const given = new Set<string>();
  const waiting = new Map<string, Found>();
  let number = 0;
  const take = (found: Found): void => {
    const key = postKey(found.post) ?? `gone ${found.number}`;
    const other = waiting.get(key);
    if (!given.has(key) && (other === undefined || isBetter(found, other))) waiting.set(key, found);
  };
  return {
    add: (posts, span) => {
      for (const { belowSecond, ...placed } of placePosts(posts, span, wanted)) {
        number += 1;
        take({ ...placed, number, isUnsettled: isUnsettled(placed, belowSecond, wanted) });
      }
    },
    addKept: (posts) => {
      for (const [index, { belowSecond, ...placed }] of posts.entries()) {
        if (!isWanted(placed, wanted)) continue;
        // In one second what is new stands above what is kept.
        const at = firstKept + index;
        take({ ...placed, number: at, isUnsettled: isUnsettled(placed, belowSecond, wanted) });
      }
    },
    release: (frontierMs) => {
      const due = [...waiting]
        .filter(([, one]) => one.second * 1000 > frontierMs && !one.isUnsettled)
        .sort(([, a], [, b]) => byPlace(a, b))
        .slice(0, wanted.maxPosts - given.size);
      for (const [key] of due) {
        waiting.delete(key);
        given.add(key);
      }
      return due.map(([, { post, second, stored }]) => ({ post, second, stored }));
    },
    get found() {
      return given.size + waiting.size;
    },
    foundAbove: (ms) =>
      given.size + [...waiting.values()].filter(({ second }) => second * 1000 > ms).length,
    get given() {
      return given.size;
    },
    get isCut() {
      return given.size >= wanted.maxPosts && waiting.size > 0;
    },
    get unsettled() {
      return [...waiting.values()].filter(({ isUnsettled }) => isUnsettled).length;
    },
    settle: (below) => {
      for (const [key, one] of waiting) {
        if (one.isUnsettled && below.has(key)) waiting.delete(key);
        else waiting.set(key, { ...one, isUnsettled: false });
      }
    },
  };
}

/** The number of the first post that is kept: there are never as many others. */
const firstKept = 1e9;

/**
 * A place that is sure to be in the range is better than a newer one that is not, and what was fetched
 * now is better than the same that was kept.
 */
function isBetter(one: Found, other: Found): boolean {
  if (one.isUnsettled !== other.isUnsettled) return other.isUnsettled;
  const isSame = hasOwnTime(one.post) === hasOwnTime(other.post);
  if (isSame && (one.stored === null) !== (other.stored === null)) return one.stored === null;
  return byPlace(one, other) < 0;
}

/** Tells whether it is undecided that a repost was made in the range. */
function isUnsettled({ post }: PlacedPost, belowSecond: number, wanted: Wanted): boolean {
  return !hasOwnTime(post) && belowSecond < leastSecond(wanted);
}

function byPlace(a: Found, b: Found): number {
  // Two infinite ones have no difference.
  return a.second === b.second ? a.number - b.number : b.second - a.second;
}

/** A post of a page with its place. */
export interface PagePost extends PlacedPost {
  /** A repost was made in this second or after; minus infinity where that is not known. */
  readonly belowSecond: number;
}

/**
 * Gives the posts of a page that are wanted, each with its place. A repost stands between the nearest
 * posts with a time of their own; whether that is within the range can be undecided.
 */
export function placePosts(
  posts: readonly Post[],
  span: PageSpan,
  wanted: Wanted,
): readonly PagePost[] {
  const below = secondsBelow(posts, span);
  let above = Math.floor((span.fromMs ?? Number.POSITIVE_INFINITY) / 1000);
  return posts.flatMap((post, index): readonly PagePost[] => {
    const next = below[index] ?? Number.NEGATIVE_INFINITY;
    const isTimed = hasOwnTime(post);
    const second = isTimed ? post.created_timestamp : above;
    // A pinned post and what a reply leads up to are older than what stands below them.
    if (isTimed && second >= next) above = Math.min(above, second);
    const placed = { post, second, stored: null, belowSecond: isTimed ? second : next };
    return isWanted(placed, wanted) ? [placed] : [];
  });
}

function isWanted({ post, second }: PlacedPost, wanted: Wanted): boolean {
  return hasOwnTime(post) ? isAskedFor(post, wanted) : second >= leastSecond(wanted);
}

/** No repost is asked for with replies alone. */
function leastSecond({ onlyReplies, sinceSeconds }: Wanted): number {
  return onlyReplies ? Number.POSITIVE_INFINITY : (sinceSeconds ?? Number.NEGATIVE_INFINITY);
}

/** Gives for each place on a page the newest second that stands below it. */
function secondsBelow(posts: readonly Post[], { toMs }: PageSpan): readonly number[] {
  let below = toMs === null ? Number.NEGATIVE_INFINITY : Math.floor(toMs / 1000);
  return posts
    .toReversed()
    .map((post) => {
      const own = below;
      if (hasOwnTime(post)) below = Math.max(below, post.created_timestamp);
      return own;
    })
    .reverse();
}

function isAskedFor(post: TimedPost, { sinceSeconds, untilSeconds, onlyReplies }: Wanted): boolean {
  const { created_timestamp: second } = post;
  if (sinceSeconds !== null && second < sinceSeconds) return false;
  if (untilSeconds !== null && second >= untilSeconds) return false;
  return !onlyReplies || answersOther(post);
}

function answersOther({ replying_to: to, author }: TimedPost): boolean {
  return to !== null && to.screen_name?.toLowerCase() !== author.screen_name.toLowerCase();
}
