import { Problem } from '../../core/problem.ts';
import type { Plan } from '../plan.ts';
import { createViews } from '../views.ts';
import type { CacheEntry, Entry, Outcome, ResponseCache } from './response-cache.ts';
import { subjectsOf } from './subjects.ts';

/** Lifetimes of cached answers. */
export interface Lifetimes {
  /** Seconds that a post is fresh. */
  readonly ttlSeconds: number;
  readonly staleWhileRevalidateSeconds: number;
  readonly staleIfErrorSeconds: number;
  readonly notFoundSeconds: number;
}

/** Divisors of a post's freshness. */
const freshnessDivisor = { post: 1, list: 12, search: 60 } as const;

/** A partial answer and one of this machine are asked for again soon. */
const shortDivisor = 60;

/** Returns the cache entry of an outcome. `nowMs` dates an outcome that is gone. */
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
 * Stores an entry, unless a whole and fresh, or a live one would be replaced by less. Throws
 * Problem
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

/** Returns why a stored entry is better than a new outcome; `undefined` if it is not. */
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
