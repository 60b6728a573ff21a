import type { KeptPost } from '../../archive/histories/kept-histories.ts';
import type { Post } from '../../model/post.ts';
import type { PageSpan } from '../../model/queries.ts';
import type { SecondRange } from '../../platforms/second-ranges.ts';
import { postKey } from '../cache/subjects.ts';
import type { HistoryQuery } from './history-query.ts';
import { hasOwnTime } from './page-reader.ts';

type Wanted = Pick<HistoryQuery, 'sinceSeconds' | 'untilSeconds' | 'maxPosts' | 'onlyReplies'>;

export interface PlacedPost {
  readonly post: Post;
  /** Unix seconds. A repost has the second of the post above it; infinite if all above it are reposts too. */
  readonly second: number;
  readonly stored: number | null;
}

interface PagePost extends PlacedPost {
  /** A repost was made in this second or after; `-Infinity` if that is unknown. */
  readonly belowSecond: number;
}

interface Found extends PlacedPost {
  readonly number: number;
  /** Whether it is a repost that may have been made before the range begins. */
  readonly isUnsettled: boolean;
}

const firstKept = 1e9; // the number of the first kept post: there are never as many others

/** Creates an ordering, which puts posts found in any order into that of the timeline, each once at its newest place. */
export function createOrdering(wanted: Wanted) {
  const given = new Set<string>();
  const waiting = new Map<string, Found>();
  let number = 0;
  const take = ({ belowSecond, ...placed }: PagePost, number: number): void => {
    const isUnsettled = !hasOwnTime(placed.post) && belowSecond < leastSecond(wanted);
    const found = { ...placed, number, isUnsettled };
    const key = postKey(found.post) ?? `gone ${number}`;
    const other = waiting.get(key);
    if (!given.has(key) && (other === undefined || isBetter(found, other))) waiting.set(key, found);
  };
  return {
    add: (posts: readonly Post[], span: PageSpan): void => {
      for (const placed of placePosts(posts, span, wanted)) {
        number += 1;
        take(placed, number);
      }
    },
    /** Adds posts kept from an earlier import, newest first. In one second new ones are above them. */
    addKept: (posts: readonly KeptPost[]): void => {
      for (const [index, kept] of posts.entries()) {
        if (isWanted(kept, wanted)) take(kept, firstKept + index);
      }
    },
    /** Removes and returns the posts above the moment down to which all has been read, newest first. */
    release: (frontierMs: number): readonly PlacedPost[] => {
      const due = [...waiting]
        .filter(([, one]) => one.second * 1000 > frontierMs && !one.isUnsettled)
        .sort(([, a], [, b]) => byPlace(a, b))
        .slice(0, wanted.maxPosts - given.size);
      for (const [key] of due) {
        waiting.delete(key);
        given.add(key);
      }
      return due.map(([, found]) => found);
    },
    get found() {
      return given.size + waiting.size;
    },
    foundAbove: (ms: number): number =>
      given.size + [...waiting.values()].filter(({ second }) => second * 1000 > ms).length,
    get given() {
      return given.size;
    },
    get isCut() {
      return given.size >= wanted.maxPosts && waiting.size > 0;
    },
    /** Number of reposts that may have been made before the range begins. */
    get unsettled() {
      return [...waiting.values()].filter(({ isUnsettled }) => isUnsettled).length;
    },
    /** Drops the unsettled reposts with these keys: they are below the range. The others are in it. */
    settle: (below: ReadonlySet<string>): void => {
      for (const [key, one] of waiting) {
        if (one.isUnsettled && below.has(key)) waiting.delete(key);
        else waiting.set(key, { ...one, isUnsettled: false });
      }
    },
  };
}

/** A place that is certainly in the range is better than a newer uncertain one, and a new answer better than a kept one. */
function isBetter(one: Found, other: Found): boolean {
  if (one.isUnsettled !== other.isUnsettled) return other.isUnsettled;
  const isSame = hasOwnTime(one.post) === hasOwnTime(other.post);
  if (isSame && (one.stored === null) !== (other.stored === null)) return one.stored === null;
  return byPlace(one, other) < 0;
}

function byPlace(a: Found, b: Found): number {
  // Two infinite ones have no difference.
  return a.second === b.second ? a.number - b.number : b.second - a.second;
}

export function createFoundPosts(query: Wanted) {
  const wanted = { ...query, onlyReplies: false };
  const since = leastSecond(wanted);
  const found = new Map<string, PagePost & { readonly number: number }>();
  return {
    add: (posts: readonly Post[], span: PageSpan): void => {
      for (const placed of placePosts(posts, span, wanted)) {
        // A post that its author reposted is at two places.
        const { post } = placed;
        const key = `${hasOwnTime(post)} ${postKey(post) ?? JSON.stringify(post)}`;
        const other = found.get(key);
        found.set(key, { ...narrow(placed, other), number: other?.number ?? found.size });
      }
    },
    /** Drops the reposts with these keys at the lower end of the range: they are below it. The others are in it. */
    settle: (below: ReadonlySet<string>): void => {
      for (const [key, one] of found) {
        if (one.belowSecond >= since) continue;
        if (below.has(postKey(one.post) ?? '')) found.delete(key);
        else found.set(key, { ...one, belowSecond: since });
      }
    },
    within: (ranges: readonly SecondRange[], fetchedMs: number): readonly KeptPost[] => {
      const stored = Math.floor(fetchedMs / 1000);
      return [...found.values()]
        .map((one) => ({ ...one, stored, second: Math.min(one.second, stored) }))
        .filter((one) => ranges.some((range) => mayBeIn(one, range)))
        .sort((a, b) => b.second - a.second || a.number - b.number)
        .map(({ number: _, ...kept }) => kept);
    },
  };
}

export function mayBeIn(
  { second, belowSecond }: Pick<KeptPost, 'second' | 'belowSecond'>,
  { fromSecond, toSecond }: SecondRange,
): boolean {
  return second >= fromSecond && belowSecond <= toSecond;
}

function narrow(one: PagePost, other: PagePost | undefined): PagePost {
  if (other === undefined) return one;
  const second = Math.min(one.second, other.second);
  const belowSecond = Math.max(one.belowSecond, other.belowSecond);
  return belowSecond <= second ? { ...one, second, belowSecond } : one;
}

/** Returns the wanted posts of a page with their places. A repost is between the nearest posts with a time of their own. */
function placePosts(posts: readonly Post[], span: PageSpan, wanted: Wanted): readonly PagePost[] {
  const below = secondsBelow(posts, span);
  let above = Math.floor((span.fromMs ?? Number.POSITIVE_INFINITY) / 1000);
  return posts
    .map((post, index): PagePost => {
      const next = below[index] ?? Number.NEGATIVE_INFINITY;
      if (!hasOwnTime(post)) return { post, second: above, stored: null, belowSecond: next };
      const second = post.created_timestamp;
      // A pinned post and those that a reply leads up to are older than the post below them.
      if (second >= next) above = Math.min(above, second);
      return { post, second, stored: null, belowSecond: second };
    })
    .filter((placed) => isWanted(placed, wanted));
}

function secondsBelow(posts: readonly Post[], { toMs }: PageSpan): readonly number[] {
  let below = toMs === null ? Number.NEGATIVE_INFINITY : Math.floor(toMs / 1000);
  const seconds = posts.toReversed().map((post) => {
    const own = below;
    if (hasOwnTime(post)) below = Math.max(below, post.created_timestamp);
    return own;
  });
  return seconds.reverse();
}

function isWanted({ post, second }: Pick<PlacedPost, 'post' | 'second'>, wanted: Wanted): boolean {
  if (!hasOwnTime(post)) return second >= leastSecond(wanted);
  const { sinceSeconds, untilSeconds, onlyReplies } = wanted;
  if (sinceSeconds !== null && post.created_timestamp < sinceSeconds) return false;
  if (untilSeconds !== null && post.created_timestamp >= untilSeconds) return false;
  if (!onlyReplies) return true;
  const { replying_to: to, author } = post;
  return to !== null && to.screen_name?.toLowerCase() !== author.screen_name.toLowerCase();
}

/** No repost is asked for with replies alone. */
function leastSecond({ onlyReplies, sinceSeconds }: Wanted): number {
  return onlyReplies ? Number.POSITIVE_INFINITY : (sinceSeconds ?? Number.NEGATIVE_INFINITY);
}
