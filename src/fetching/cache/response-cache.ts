import { LRUCache } from 'lru-cache';
import { Problem } from '../../lib/problem.ts';
import type { ListPart } from '../lists/fetch-page.ts';
import { createRenderingBudget, type Found, type Plan, type RenderingBudget } from '../plan.ts';
import { subjectsOf } from './subjects.ts';

export type Outcome =
  | {
      readonly found: Found | ListPart;
      readonly source: string;
      readonly isLocal: boolean;
      /** Unix time in ms at which the oldest part was requested from a provider. */
      readonly requestedMs: number;
    }
  | { readonly gone: Problem };

export interface CacheEntry {
  /** Keys of `Plan.subject`, posts and accounts. Deleting one upstream removes the entry. */
  readonly subjects: readonly string[];
  readonly outcome: Outcome;
  readonly fetchedAtMs: number;
  readonly freshUntilMs: number;
  /** Epoch time in ms until which a stale answer may be served during a background revalidation. */
  readonly revalidateUntilMs: number;
  /** Epoch time in ms until which a stale answer may be served if no upstream is available. */
  readonly errorUntilMs: number;
  /** Length of the answer as JSON, in characters. If absent, the cache computes it. */
  readonly length?: number;
}

export type Entry = CacheEntry & { readonly renderings: RenderingBudget };

/** Estimated memory in bytes of an entry without its answer and its subjects. */
const entryBytes = 1000;

const maxGone = 1000; // maximum number of deleted subjects that are remembered for reads in flight

type StoredEntry = Entry & { bytes: number };
export type ResponseCache = ReturnType<typeof createResponseCache>;

interface CacheOptions {
  readonly maxEntries: number;
  readonly maxBytes: number;
  /** Called for each deleted post or account, with the keys of the cache entries removed for it. */
  readonly onGone?: (subject: string, keys: readonly string[]) => void;
}

export function createResponseCache(limits: CacheOptions) {
  const keysOf = new Map<string, Set<string>>();
  const goneAt = new LRUCache<string, number>({ max: maxGone });
  const isOutdated = ({ subjects, outcome }: CacheEntry): boolean =>
    goneAt.size > 0 &&
    !('gone' in outcome) &&
    subjects.some((subject) => (goneAt.get(subject) ?? outcome.requestedMs) > outcome.requestedMs);
  const removeFromIndex = (cached: StoredEntry | undefined, key: string): void => {
    for (const subject of cached?.subjects ?? []) {
      const keys = keysOf.get(subject);
      keys?.delete(key);
      if (keys?.size === 0) keysOf.delete(subject);
    }
  };
  // Entries are wrapped in new objects because the library computes the size of new values only.
  const entries = new LRUCache<string, { readonly cached: StoredEntry }>({
    max: limits.maxEntries,
    maxSize: limits.maxBytes,
    sizeCalculation: ({ cached }) => cached.bytes,
    dispose: ({ cached }, key, reason) => {
      if (reason !== 'set') removeFromIndex(cached, key);
    },
  });
  const put = (key: string, cached: StoredEntry): void => {
    entries.set(key, { cached });
    if (entries.peek(key)?.cached !== cached) removeFromIndex(cached, key); // larger than the cache
  };
  const grow = (key: string, cached: StoredEntry, bytes: number): void => {
    cached.bytes += bytes;
    if (entries.peek(key)?.cached === cached) put(key, cached);
  };
  return {
    get: (key: string): Entry | undefined => entries.get(key)?.cached,
    set: (key: string, entry: CacheEntry): RenderingBudget => {
      if (isOutdated(entry)) return createRenderingBudget(() => undefined);
      const { outcome, subjects } = entry;
      const answer =
        'gone' in outcome ? 500 : 2 * (entry.length ?? JSON.stringify(outcome.found).length);
      const bytes = entryBytes + 2 * key.length + 120 * subjects.length + answer;
      const renderings = createRenderingBudget((more) => grow(key, cached, more));
      const cached: StoredEntry = { ...entry, bytes, renderings };
      removeFromIndex(entries.peek(key)?.cached, key);
      for (const subject of subjects) {
        keysOf.set(subject, (keysOf.get(subject) ?? new Set()).add(key));
      }
      put(key, cached);
      return renderings;
    },
    isOutdated,
    /** Removes entries about `subject`, and rejects data requested before `goneMs` (Unix ms). */
    dropSubject: (subject: string, goneMs: number): void => {
      const keys = [...(keysOf.get(subject) ?? [])];
      limits.onGone?.(subject, keys);
      goneAt.set(subject, goneMs);
      for (const key of keys) entries.delete(key);
    },
    get bytes() {
      return entries.calculatedSize;
    },
    get size() {
      return entries.size;
    },
  };
}

export interface Lifetimes {
  readonly ttlSeconds: number;
  readonly staleWhileRevalidateSeconds: number;
  readonly staleIfErrorSeconds: number;
  readonly notFoundSeconds: number;
}

/** Divisors of `ttlSeconds`; the quotient is the seconds for which an answer stays fresh. */
export const freshnessDivisor = { post: 1, list: 12, search: 60 } as const;

const shortLivedDivisor = 60; // partial answers and answers from local providers expire sooner

export function toEntry(
  plan: Plan,
  outcome: Outcome,
  { lifetimes, nowMs }: { readonly lifetimes: Lifetimes; readonly nowMs: number },
): CacheEntry {
  if ('gone' in outcome) {
    const untilMs = nowMs + lifetimes.notFoundSeconds * 1000;
    return {
      subjects: [plan.subject],
      outcome,
      fetchedAtMs: nowMs,
      ...{ freshUntilMs: untilMs, revalidateUntilMs: untilMs, errorUntilMs: untilMs },
    };
  }
  const { found, requestedMs } = outcome;
  const isShortLived = isPartial(outcome) || outcome.isLocal;
  const divisor = isShortLived ? shortLivedDivisor : freshnessDivisor[plan.freshness];
  const freshUntilMs = requestedMs + (lifetimes.ttlSeconds / divisor) * 1000;
  const { staleWhileRevalidateSeconds, staleIfErrorSeconds } = lifetimes;
  return {
    subjects: [plan.subject, ...subjectsOf(found)],
    outcome,
    fetchedAtMs: ('asOfMs' in found ? found.asOfMs : undefined) ?? requestedMs,
    freshUntilMs,
    revalidateUntilMs: freshUntilMs + (isShortLived ? 0 : staleWhileRevalidateSeconds * 1000),
    // A partial answer is better than none. A local provider can answer again during an outage.
    errorUntilMs: freshUntilMs + (outcome.isLocal ? 0 : staleIfErrorSeconds * 1000),
  };
}

/**
 * Stores `entry`, unless the cached entry is better: an incomplete entry does not replace a fresh
 * complete one, and a fallback (see `isStopgap`) only replaces another fallback or an entry that
 * may not be served any more. Returns `entry`, stored or not.
 * @throws Problem `upstream_unavailable` if a fallback is not stored and `useCache` is set; the
 *   caller then serves the cached entry
 */
export function storeEntry(
  cache: ResponseCache,
  { key, useCache }: Pick<Plan, 'key' | 'useCache'>,
  { entry, nowMs }: { readonly entry: CacheEntry; readonly nowMs: number },
): Entry {
  const cached = cache.get(key);
  const better = cached && compare(cached, entry.outcome, nowMs);
  if (better === undefined) return { ...entry, renderings: cache.set(key, entry) };
  if (better === 'live' && useCache) {
    throw new Problem('upstream_unavailable', { detail: 'The source could not be reached.' });
  }
  return { ...entry, renderings: createRenderingBudget(() => undefined) };
}

function compare(
  cached: CacheEntry,
  outcome: Outcome,
  nowMs: number,
): 'whole' | 'live' | undefined {
  if ('gone' in cached.outcome) return undefined;
  const isWhole = !isPartial(cached.outcome) && nowMs < cached.freshUntilMs;
  if (isWhole && isPartial(outcome)) return 'whole';
  const isLive = !isStopgap(cached.outcome) && nowMs < cached.errorUntilMs;
  return isLive && isStopgap(outcome) ? 'live' : undefined;
}

export const isPartial = (outcome: Outcome): boolean =>
  'found' in outcome && 'missing' in outcome.found && outcome.found.missing.length > 0;

function isStopgap(outcome: Outcome): boolean {
  if (!('found' in outcome && 'items' in outcome.found)) return false;
  const { degraded, items, missing } = outcome.found;
  return degraded || (items.length === 0 && missing.length > 0);
}
