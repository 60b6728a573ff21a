import type { StoredHistoryPost } from '../../archive/histories/history-store.ts';
import type { Post } from '../../model/post.ts';
import type { PageSpan } from '../../model/queries.ts';
import type { SecondRange } from '../../normalize/times.ts';
import { postKey } from '../cache/subjects.ts';
import type { HistoryQuery } from './history-result.ts';
import { hasOwnTime } from './page-reader.ts';

type Wanted = Pick<HistoryQuery, 'sinceSeconds' | 'untilSeconds' | 'maxPosts' | 'onlyReplies'>;

export interface PlacedPost {
  readonly post: Post;
  /** Time in the timeline in Unix seconds. For a repost, the latest possible time or `Infinity`. */
  readonly second: number;
  readonly stored: number | null;
}

interface PagePost extends PlacedPost {
  /** Earliest possible time. Equals `second`, except for reposts; `-Infinity` if unknown. */
  readonly belowSecond: number;
}

interface Candidate extends PlacedPost {
  readonly number: number;
  /** Whether the post is a repost that may be older than the requested range. */
  readonly isUnresolved: boolean;
}

const firstStoredNumber = 1e9; // number of the first stored post, above those of all fetched posts

/** Creates a buffer that sorts posts and releases each once, at its newest timeline position. */
export function createOrdering(wanted: Wanted) {
  const sent = new Set<string>();
  const pending = new Map<string, Candidate>();
  let number = 0;
  const addCandidate = ({ belowSecond, ...placed }: PagePost, number: number): void => {
    const isUnresolved = !hasOwnTime(placed.post) && belowSecond < minSecond(wanted);
    const found = { ...placed, number, isUnresolved };
    const key = postKey(found.post) ?? `gone ${number}`;
    const other = pending.get(key);
    if (!sent.has(key) && (other === undefined || isBetter(found, other))) pending.set(key, found);
  };
  return {
    add: (posts: readonly Post[], span: PageSpan): void => {
      for (const placed of placePosts(posts, span, wanted)) {
        number += 1;
        addCandidate(placed, number);
      }
    },
    /** Adds posts of earlier imports, newest first. They follow fetched ones of the same second. */
    addStored: (posts: readonly StoredHistoryPost[]): void => {
      for (const [index, post] of posts.entries()) {
        if (isWanted(post, wanted)) addCandidate(post, firstStoredNumber + index);
      }
    },
    /** Releases posts newer than `frontierMs` (Unix ms), newest first. All must have been added. */
    release: (frontierMs: number): readonly PlacedPost[] => {
      const due = [...pending]
        .filter(([, one]) => one.second * 1000 > frontierMs && !one.isUnresolved)
        .sort(([, a], [, b]) => byPlace(a, b))
        .slice(0, wanted.maxPosts - sent.size);
      for (const [key] of due) {
        pending.delete(key);
        sent.add(key);
      }
      return due.map(([, found]) => found);
    },
    get found() {
      return sent.size + pending.size;
    },
    foundAbove: (ms: number): number =>
      sent.size + [...pending.values()].filter(({ second }) => second * 1000 > ms).length,
    get sent() {
      return sent.size;
    },
    get isCut() {
      return sent.size >= wanted.maxPosts && pending.size > 0;
    },
    /** Number of buffered reposts that may be older than the requested range. */
    get unresolved() {
      return [...pending.values()].filter(({ isUnresolved }) => isUnresolved).length;
    },
    /** Removes the uncertain reposts in `below`, and treats all others as part of the range. */
    resolveReposts: (below: ReadonlySet<string>): void => {
      for (const [key, one] of pending) {
        if (one.isUnresolved && below.has(key)) pending.delete(key);
        else pending.set(key, { ...one, isUnresolved: false });
      }
    },
  };
}

function isBetter(one: Candidate, other: Candidate): boolean {
  if (one.isUnresolved !== other.isUnresolved) return other.isUnresolved;
  const isSame = hasOwnTime(one.post) === hasOwnTime(other.post);
  if (isSame && (one.stored === null) !== (other.stored === null)) return one.stored === null;
  return byPlace(one, other) < 0;
}

function byPlace(a: Candidate, b: Candidate): number {
  // The difference of two infinite values is NaN.
  return a.second === b.second ? a.number - b.number : b.second - a.second;
}

/** Creates a collector of posts for the archive, including those that `onlyReplies` excludes. */
export function createPostCollector(query: Wanted) {
  const wanted = { ...query, onlyReplies: false };
  const since = minSecond(wanted);
  const found = new Map<string, PagePost & { readonly number: number }>();
  return {
    add: (posts: readonly Post[], span: PageSpan): void => {
      for (const placed of placePosts(posts, span, wanted)) {
        // A post that its own author reposted has two positions.
        const { post } = placed;
        const key = `${hasOwnTime(post)} ${postKey(post) ?? JSON.stringify(post)}`;
        const other = found.get(key);
        found.set(key, { ...narrow(placed, other), number: other?.number ?? found.size });
      }
    },
    /** Removes the uncertain reposts in `below`, and treats all others as part of the range. */
    resolveReposts: (below: ReadonlySet<string>): void => {
      for (const [key, one] of found) {
        if (one.belowSecond >= since) continue;
        if (below.has(postKey(one.post) ?? '')) found.delete(key);
        else found.set(key, { ...one, belowSecond: since });
      }
    },
    within: (ranges: readonly SecondRange[], fetchedMs: number): readonly StoredHistoryPost[] => {
      const stored = Math.floor(fetchedMs / 1000);
      return [...found.values()]
        .map((one) => ({ ...one, stored, second: Math.min(one.second, stored) }))
        .filter((one) => ranges.some((range) => mayBeIn(one, range)))
        .sort((a, b) => b.second - a.second || a.number - b.number)
        .map(({ number: _, ...post }) => post);
    },
  };
}

export function mayBeIn(
  { second, belowSecond }: Pick<StoredHistoryPost, 'second' | 'belowSecond'>,
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

function placePosts(posts: readonly Post[], span: PageSpan, wanted: Wanted): readonly PagePost[] {
  const below = secondsBelow(posts, span);
  let above = Math.floor((span.fromMs ?? Number.POSITIVE_INFINITY) / 1000);
  return posts
    .map((post, index): PagePost => {
      const next = below[index] ?? Number.NEGATIVE_INFINITY;
      if (!hasOwnTime(post)) return { post, second: above, stored: null, belowSecond: next };
      const second = post.created_timestamp;
      // Pinned posts, and parents listed with a reply, are older than the post below them.
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
  if (!hasOwnTime(post)) return second >= minSecond(wanted);
  const { sinceSeconds, untilSeconds, onlyReplies } = wanted;
  if (sinceSeconds !== null && post.created_timestamp < sinceSeconds) return false;
  if (untilSeconds !== null && post.created_timestamp >= untilSeconds) return false;
  if (!onlyReplies) return true;
  const { replying_to: to, author } = post;
  return to !== null && to.screen_name?.toLowerCase() !== author.screen_name.toLowerCase();
}

const minSecond = ({ onlyReplies, sinceSeconds }: Wanted): number =>
  onlyReplies ? Number.POSITIVE_INFINITY : (sinceSeconds ?? Number.NEGATIVE_INFINITY);
