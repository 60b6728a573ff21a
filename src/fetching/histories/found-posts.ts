import type { KeptPost } from '../../archive/histories/history-keep.ts';
import type { Post } from '../../model/post.ts';
import type { PageSpan } from '../../model/queries.ts';
import type { SecondRange } from '../../platforms/second-ranges.ts';
import { postKey } from '../cache/post-key.ts';
import { type PagePost, placePosts, type Wanted } from './ordering.ts';
import { hasOwnTime } from './page-span.ts';

/** Collects what the pages of a walk have, to be kept for the next import. */
export interface FoundPosts {
  /** Adds the posts of a page. */
  add(posts: readonly Post[], span: PageSpan): void;
  /** Decides about the reposts at the lower end of the range: those with these keys stand below it. */
  settle(below: ReadonlySet<string>): void;
  /** Gives what stands, or may stand, in one of the ranges, newest first, as fetched at a moment. */
  within(ranges: readonly SecondRange[], fetchedMs: number): readonly KeptPost[];
}

interface Found extends PagePost {
  readonly number: number;
}

/** Creates a collection of nothing. It takes all posts of the range, whichever of them are given. */
export function createFoundPosts(query: Wanted): FoundPosts {
  const wanted = { ...query, onlyReplies: false };
  const since = wanted.sinceSeconds ?? Number.NEGATIVE_INFINITY;
  const found = new Map<string, Found>();
  return {
    add: (posts, span) => {
      for (const placed of placePosts(posts, span, wanted)) {
        const key = keyOf(placed.post);
        const other = found.get(key);
        found.set(key, { ...meet(placed, other), number: other?.number ?? found.size });
      }
    },
    settle: (below) => {
      for (const [key, one] of found) {
        const { post, belowSecond } = one;
        if (belowSecond >= since) continue;
        if (below.has(postKey(post) ?? '')) found.delete(key);
        else found.set(key, { ...one, belowSecond: since });
      }
    },
    within: (ranges, fetchedMs) => {
      const stored = Math.floor(fetchedMs / 1000);
      return [...found.values()]
        .map((one) => ({ ...one, stored, second: Math.min(one.second, stored) }))
        .filter(({ second, belowSecond }) =>
          ranges.some((range) => second >= range.fromSecond && belowSecond <= range.toSecond),
        )
        .sort((a, b) => b.second - a.second || a.number - b.number)
        .map(({ post, second, belowSecond }) => ({ post, second, belowSecond, stored }));
    },
  };
}

/** A post that its author reposted stands at two places. */
function keyOf(post: Post): string {
  return `${hasOwnTime(post)} ${postKey(post) ?? JSON.stringify(post)}`;
}

/** Two pages that show the same repost tell more of its place than one. */
function meet(one: PagePost, other: PagePost | undefined): PagePost {
  if (other === undefined) return one;
  const second = Math.min(one.second, other.second);
  const belowSecond = Math.max(one.belowSecond, other.belowSecond);
  return belowSecond <= second ? { ...one, second, belowSecond } : one;
}
