import type { PostFound, PostQuery } from '../model/queries.ts';
import type { Platform } from '../model/reference.ts';
import type { BrowseFound, BrowseQuery } from './lists/browse.ts';

/** How long an answer stays fresh: posts longest, lists a twelfth, searches a sixtieth of it. */
export type Freshness = 'post' | 'list' | 'search';

/** What a read wants fetched. Pure: it depends on the request's parameters and on nothing else. */
export interface Plan {
  readonly query: PostQuery | BrowseQuery;
  /** The identity of the answer in the cache; equal plans have equal keys. */
  readonly key: string;
  /** What the answer is about; all answers about a subject are dropped when it is gone. */
  readonly subject: string;
  readonly freshness: Freshness;
  /** False skips the response cache on the way in (`nocache=true`). */
  readonly useCache: boolean;
  /** True where only a fresh copy or a source's own answer will do: no older copy and no last resort. */
  readonly isLiveOnly?: boolean;
}

export function accountSubject(platform: Platform, handle: string): string {
  return `account ${platform} ${handle.toLowerCase()}`;
}

/** Whether a cache answered; the header `X-Cache`. */
export type CacheState = 'hit' | 'miss' | 'stale' | 'bypass';

export type Found = PostFound | BrowseFound;

export interface Answer {
  readonly found: Found;
  readonly source: string;
  /** When it was fetched, in milliseconds since the epoch. */
  readonly fetchedAtMs: number;
  readonly cache: CacheState;
  readonly views: Views;
}

/** Returns the post that an answer has found. @throws Error for an answer to another kind of plan */
export function postIn({ found }: Answer): PostFound {
  if ('post' in found) return found;
  throw new Error('The answer has a page of a list, and no post.');
}

/** Returns the page of a list that an answer has found. @throws Error for an answer to another kind of plan */
export function pageIn({ found }: Answer): BrowseFound {
  if ('items' in found) return found;
  throw new Error('The answer has a post, and no page of a list.');
}

/** Maximum number of renderings that are kept beside one answer; more are rendered each time. */
const maxViews = 16;

/** Bounds what is rendered of an answer and kept beside it. It lives and dies with the answer in the cache. */
export interface Views {
  /** Returns whether another rendering of so many bytes may be kept, and counts it if so. */
  admit(bytes: number): boolean;
}

/** Creates the bound of one answer. `grow` is called with the bytes of each rendering that is kept. */
export function createViews(grow: (bytes: number) => void): Views {
  let count = 0;
  return {
    admit: (bytes) => {
      if (count >= maxViews) return false;
      count += 1;
      grow(bytes);
      return true;
    },
  };
}

export type KeptViews<Value> = ReturnType<typeof createKeptViews<Value>>;

/** Creates an empty store of renderings of one kind, each under a name beside its answer, with which it goes. */
export function createKeptViews<Value>() {
  const kept = new WeakMap<Views, Map<string, Value>>();
  return {
    get: (views: Views, name: string): Value | undefined => kept.get(views)?.get(name),
    set: (views: Views, name: string, value: Value, bytes: number): void => {
      const values = kept.get(views) ?? new Map<string, Value>();
      if (values.has(name) || !views.admit(bytes)) return;
      kept.set(views, values.set(name, value));
    },
  };
}
