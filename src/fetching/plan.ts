import type { PostFound, PostQuery } from '../model/queries.ts';
import type { Platform } from '../model/reference.ts';
import type { BrowseFound, BrowseQuery } from './lists/browse.ts';

/** Kind of answer. Posts stay fresh longest, lists a twelfth of that time, searches a sixtieth. */
export type Freshness = 'post' | 'list' | 'search';

/** Description of what to fetch for a read. It depends only on the parameters of the request. */
export interface Plan {
  readonly query: PostQuery | BrowseQuery;
  /** Key of the answer in the cache. Equal plans have equal keys. */
  readonly key: string;
  /** Post, account or search that the answer is about. Its deletion drops all cached answers about it. */
  readonly subject: string;
  readonly freshness: Freshness;
  /** Whether a cached answer may be used; false for `nocache=true`. */
  readonly useCache: boolean;
  /** Whether stale answers and providers of last resort are excluded. */
  readonly isLiveOnly?: boolean;
}

export const accountSubject = (platform: Platform, handle: string): string =>
  `account ${platform} ${handle.toLowerCase()}`;

/** How the cache was used for an answer, as sent in the header `X-Cache`. */
export type CacheState = 'hit' | 'miss' | 'stale' | 'bypass';

export type Found = PostFound | BrowseFound;

export interface Answer {
  readonly found: Found;
  readonly source: string;
  readonly fetchedAtMs: number;
  readonly cache: CacheState;
  readonly renderings: RenderingBudget;
}

/** Returns the post of an answer. @throws Error for an answer to another kind of plan */
export function postIn({ found }: Answer): PostFound {
  if ('post' in found) return found;
  throw new Error('The answer has a page of a list instead of a post.');
}

/** Returns the page of an answer. @throws Error for an answer to another kind of plan */
export function pageIn({ found }: Answer): BrowseFound {
  if ('items' in found) return found;
  throw new Error('The answer has a post instead of a page of a list.');
}

const maxRenderings = 16; // cached renderings per answer; further ones are rendered each time

/** Limit on the renderings that are cached together with one answer. */
export interface RenderingBudget {
  /** Returns whether a rendering of this size may be cached. If so, adds it to the total. */
  admit(bytes: number): boolean;
}

/** Creates the budget of one answer. `grow` is called with the size of each admitted rendering in bytes. */
export function createRenderingBudget(grow: (bytes: number) => void): RenderingBudget {
  let count = 0;
  return {
    admit: (bytes) => {
      if (count >= maxRenderings) return false;
      count += 1;
      grow(bytes);
      return true;
    },
  };
}

export type RenderingCache<Value> = ReturnType<typeof createRenderingCache<Value>>;

/** Creates a cache of renderings, keyed by answer and name. The renderings of an answer are freed with the answer. */
export function createRenderingCache<Value>() {
  const byBudget = new WeakMap<RenderingBudget, Map<string, Value>>();
  return {
    get: (renderings: RenderingBudget, name: string): Value | undefined =>
      byBudget.get(renderings)?.get(name),
    set: (renderings: RenderingBudget, name: string, value: Value, bytes: number): void => {
      const values = byBudget.get(renderings) ?? new Map<string, Value>();
      if (values.has(name) || !renderings.admit(bytes)) return;
      byBudget.set(renderings, values.set(name, value));
    },
  };
}
