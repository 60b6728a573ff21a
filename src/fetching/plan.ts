import type { PostFound, PostQuery } from '../model/queries.ts';
import type { Platform } from '../model/reference.ts';
import type { BrowseFound, BrowseQuery } from './browse-query.ts';

/** What can be fetched: a post with what stands around it, or a page of a list. */
export interface Finds {
  post: { query: PostQuery; found: PostFound };
  browse: { query: BrowseQuery; found: BrowseFound };
}

/** The kinds of what can be fetched. */
export type PlanKind = keyof Finds;

/** How long an answer stays fresh: posts longest, lists a twelfth, searches a sixtieth of it. */
export type Freshness = 'post' | 'list' | 'search';

/** What a read wants fetched. Pure: it depends on the request's parameters and on nothing else. */
export interface Plan<Kind extends PlanKind = PlanKind> {
  readonly query: Finds[Kind]['query'];
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

/** Gives the subject of what is about an account: its profile, its lists, its posts. */
export function accountSubject(platform: Platform, handle: string): string {
  return `account ${platform} ${handle.toLowerCase()}`;
}

/** Whether a cache answered; the header `X-Cache`. */
export type CacheState = 'hit' | 'miss' | 'stale' | 'bypass';

/**
 * Keeps what was rendered of an answer beside it, so that a hit renders nothing. It lives and dies
 * with the answer in the cache.
 */
export interface ViewStore {
  get(name: string): unknown;
  set(name: string, view: unknown, bytes: number): void;
}

/** What was found, with where and when. */
export interface Answer<Kind extends PlanKind = PlanKind> {
  readonly found: Finds[Kind]['found'];
  /** The provider's name. */
  readonly source: string;
  /** When it was fetched, in milliseconds since the epoch. */
  readonly fetchedAtMs: number;
  readonly cache: CacheState;
  readonly views: ViewStore;
}
