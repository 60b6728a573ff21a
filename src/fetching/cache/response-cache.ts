import { LRUCache } from 'lru-cache';
import { Problem } from '../../core/problem.ts';
import type { ListPart } from '../lists/browse.ts';
import { createViews, type Found, type Plan, type Views } from '../plan.ts';
import { subjectsOf } from './subjects.ts';

export type Outcome =
  | {
      readonly found: Found | ListPart;
      readonly source: string;
      readonly isLocal: boolean;
      /** When the provider was asked, in milliseconds since the epoch; of several, the first time. */
      readonly askedMs: number;
    }
  | { readonly gone: Problem };

export interface CacheEntry {
  /** What it is about: posts and their authors, an account, or a search. */
  readonly subjects: readonly string[];
  readonly outcome: Outcome;
  readonly fetchedAtMs: number;
  readonly freshUntilMs: number;
  /** Until then a stale answer may be served while a new one is fetched. */
  readonly revalidateUntilMs: number;
  /** Until then it may be served when no upstream answers. */
  readonly errorUntilMs: number;
}

export type Entry = CacheEntry & { readonly views: Views };

const maxGone = 1000; // maximum number of gone subjects that are remembered for reads under way

type StoredEntry = Entry & { bytes: number };

export type ResponseCache = ReturnType<typeof createResponseCache>;

interface CacheOptions {
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly onGone?: (subject: string) => void;
}

export function createResponseCache(limits: CacheOptions) {
  const keysOf = new Map<string, Set<string>>();
  const goneAt = new LRUCache<string, number>({ max: maxGone });
  const isPast = ({ subjects, outcome }: CacheEntry): boolean =>
    !('gone' in outcome) &&
    subjects.some((subject) => (goneAt.get(subject) ?? outcome.askedMs) > outcome.askedMs);
  const forget = (kept: StoredEntry, key: string): void => {
    for (const subject of kept.subjects) {
      const keys = keysOf.get(subject);
      keys?.delete(key);
      if (keys?.size === 0) keysOf.delete(subject);
    }
  };
  const file = (entry: CacheEntry, key: string): void => {
    for (const subject of entry.subjects) {
      keysOf.set(subject, (keysOf.get(subject) ?? new Set()).add(key));
    }
  };
  // Each has a box of its own, because the library looks at the size only of a new value.
  const entries = new LRUCache<string, { readonly kept: StoredEntry }>({
    max: limits.maxEntries,
    maxSize: limits.maxBytes,
    sizeCalculation: ({ kept }) => kept.bytes,
    dispose: ({ kept }, key, reason) => {
      if (reason !== 'set') forget(kept, key);
    },
  });
  const put = (key: string, kept: StoredEntry): void => {
    entries.set(key, { kept });
    if (entries.peek(key)?.kept !== kept) forget(kept, key); // larger than the cache
  };
  const grow = (key: string, kept: StoredEntry, bytes: number): void => {
    kept.bytes += bytes;
    if (entries.peek(key)?.kept === kept) put(key, kept);
  };

  return {
    get: (key: string): Entry | undefined => entries.get(key)?.kept,
    set: (key: string, entry: CacheEntry): Views => {
      if (isPast(entry)) return createViews(() => undefined);
      const { outcome, subjects } = entry;
      const answer = 'gone' in outcome ? 500 : 2 * JSON.stringify(outcome.found).length;
      const bytes = 200 + 2 * key.length + 120 * subjects.length + answer;
      const views = createViews((more) => grow(key, kept, more));
      const kept: StoredEntry = { ...entry, bytes, views };
      const before = entries.peek(key)?.kept;
      if (before !== undefined) forget(before, key);
      file(entry, key);
      put(key, kept);
      return views;
    },
    /** Drops and refuses every entry about a subject that was fetched before it was gone (ms). */
    dropSubject: (subject: string, goneMs: number): void => {
      limits.onGone?.(subject);
      goneAt.set(subject, goneMs);
      for (const key of [...(keysOf.get(subject) ?? [])]) entries.delete(key);
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

const freshnessDivisor = { post: 1, list: 12, search: 60 } as const;

const shortDivisor = 60; // a partial answer and one of this machine are asked for again soon

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
  const { found, askedMs } = outcome;
  const isShort = isPartial(outcome) || outcome.isLocal;
  const divisor = isShort ? shortDivisor : freshnessDivisor[plan.freshness];
  const freshUntilMs = askedMs + (lifetimes.ttlSeconds / divisor) * 1000;
  const after = (seconds: number) => freshUntilMs + (isShort ? 0 : seconds * 1000);
  return {
    subjects: [plan.subject, ...subjectsOf(found)],
    outcome,
    fetchedAtMs: ('asOfMs' in found ? found.asOfMs : undefined) ?? askedMs,
    freshUntilMs,
    revalidateUntilMs: after(lifetimes.staleWhileRevalidateSeconds),
    errorUntilMs: after(lifetimes.staleIfErrorSeconds),
  };
}

/**
 * Stores an entry, unless a whole and fresh, or a live one would be replaced by less. Throws Problem
 * `upstream_unavailable` if the stored one is to be served as stale instead.
 */
export function storeEntry(
  cache: ResponseCache,
  { key, useCache }: Pick<Plan, 'key' | 'useCache'>,
  { entry, nowMs }: { readonly entry: CacheEntry; readonly nowMs: number },
): Entry {
  const kept = cache.get(key);
  const better = kept && compare(kept, entry.outcome, nowMs);
  if (better === undefined) return { ...entry, views: cache.set(key, entry) };
  if (better === 'live' && useCache) {
    throw new Problem('upstream_unavailable', { detail: 'The source could not be asked.' });
  }
  return { ...entry, views: createViews(() => undefined) };
}

function compare(kept: CacheEntry, outcome: Outcome, nowMs: number): 'whole' | 'live' | undefined {
  if ('gone' in kept.outcome) return undefined;
  const isWhole = !isPartial(kept.outcome) && nowMs < kept.freshUntilMs;
  if (isWhole && isPartial(outcome)) return 'whole';
  const isLive = !isStopgap(kept.outcome) && nowMs < kept.errorUntilMs;
  return isLive && isStopgap(outcome) ? 'live' : undefined;
}

export function isPartial(outcome: Outcome): boolean {
  return 'found' in outcome && 'missing' in outcome.found && outcome.found.missing.length > 0;
}

/** Returns whether an answer is only better than none: the last resort's, or a page without its items. */
function isStopgap(outcome: Outcome): boolean {
  if (!('found' in outcome && 'items' in outcome.found)) return false;
  const { degraded, items, missing } = outcome.found;
  return degraded || (items.length === 0 && missing.length > 0);
}
