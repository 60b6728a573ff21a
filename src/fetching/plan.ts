import type { Answers, QueryKind } from '../providers/provider.ts';

/** How long an answer stays fresh: posts longest, lists a twelfth, searches a sixtieth of it. */
export type Freshness = 'post' | 'list' | 'search';

/** What a read wants fetched. Pure: it depends on the request's parameters and on nothing else. */
export interface Plan<Kind extends QueryKind = QueryKind> {
  readonly query: Answers[Kind]['query'];
  /** The identity of the answer in the cache; equal plans have equal keys. */
  readonly key: string;
  /** What the answer is about; all answers about a subject are dropped when it is gone. */
  readonly subject: string;
  readonly freshness: Freshness;
  /** False skips the response cache on the way in (`nocache=true`). */
  readonly useCache: boolean;
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

/** What a provider found, with where and when. */
export interface Answer<Kind extends QueryKind = QueryKind> {
  readonly found: Answers[Kind]['found'];
  /** The provider's name. */
  readonly source: string;
  /** When it was fetched, in milliseconds since the epoch. */
  readonly fetchedAtMs: number;
  readonly cache: CacheState;
  readonly views: ViewStore;
}
