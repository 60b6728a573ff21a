import type { PostFound, PostQuery } from '../model/queries.ts';
import type { Platform } from '../model/reference.ts';
import type { PageFound, PageQuery } from './lists/fetch-page.ts';

/** Kind of answer. A list stays fresh for 1/12 as long as a post, and a search for 1/60. */
export type Freshness = 'post' | 'list' | 'search';

/** Query with its cache key and cache options. Depends only on the request's parameters. */
export interface Plan {
  readonly query: PostQuery | PageQuery;
  /** Key of the answer in the cache. Equal plans have equal keys. */
  readonly key: string;
  /** Key of the requested post, account or search. If it is gone, cached answers are removed. */
  readonly subject: string;
  /** Request parameter that names the post; absent for accounts and searches. */
  readonly param?: string | undefined;
  readonly freshness: Freshness;
  /** Whether a cached answer may be used; `false` if the request has `nocache=true`. */
  readonly useCache: boolean;
  /** Whether stale answers and providers of last resort, such as the archive, are excluded. */
  readonly isLiveOnly?: boolean;
}

export const accountSubject = (platform: Platform, handle: string): string =>
  `account ${platform} ${handle.toLowerCase()}`;

/** Cache status of an answer, as sent in the header `X-Cache`. */
export type CacheState = 'hit' | 'miss' | 'stale' | 'bypass';

export type Found = PostFound | PageFound;

export interface Answer {
  readonly found: Found;
  readonly source: string;
  /** Whether the answer comes from a provider of this instance, such as its archive. */
  readonly isLocal: boolean;
  /** Unix time in ms at which the oldest part was requested from a provider. */
  readonly requestedMs: number;
  readonly fetchedAtMs: number;
  readonly cache: CacheState;
  readonly renderings: RenderingBudget;
}

/** Returns the post that an answer contains. @throws Error if it contains a page of a list */
export function postIn({ found }: Answer): PostFound {
  if ('post' in found) return found;
  throw new Error('The answer has a page of a list instead of a post.');
}

/** Returns the list page that an answer contains. @throws Error if the answer contains a post */
export function pageIn({ found }: Answer): PageFound {
  if ('items' in found) return found;
  throw new Error('The answer has a post instead of a page of a list.');
}

const maxRenderings = 16; // cached renderings per answer; further renderings are not cached

/** Limit on the number of renderings (Markdown, JSON, …) that are cached for one answer. */
export interface RenderingBudget {
  /** Counts one more cached rendering. At the limit, returns `false` without counting it. */
  admit(bytes: number): boolean;
  /** Counts `bytes` more bytes of an admitted rendering. */
  grow(bytes: number): void;
}

/** Creates a limit on an answer's cached renderings. `grow` is called with each one's bytes. */
export function createRenderingBudget(grow: (bytes: number) => void): RenderingBudget {
  let count = 0;
  return {
    admit: (bytes) => {
      if (count >= maxRenderings) return false;
      count += 1;
      grow(bytes);
      return true;
    },
    grow,
  };
}

export type RenderingCache<Value> = ReturnType<typeof createRenderingCache<Value>>;

/** Creates a cache of answers' renderings, which are evicted with their answers. */
export function createRenderingCache<Value>() {
  const byBudget = new WeakMap<RenderingBudget, Map<string, Value>>();
  return {
    get: (renderings: RenderingBudget, name: string): Value | undefined =>
      byBudget.get(renderings)?.get(name),
    set: (renderings: RenderingBudget, name: string, value: Value, bytes: number): void => {
      const values = byBudget.get(renderings) ?? new Map<string, Value>();
      if (values.has(name) || !renderings.admit(bytes + 2 * name.length)) return;
      byBudget.set(renderings, values.set(name, value));
    },
  };
}
