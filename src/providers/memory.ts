import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';

/** Creates a cache of `max` entries that expire `ttlMs` after they were set. */
export function createMemory<Value extends NonNullable<unknown>>(
  clock: Clock,
  { max, ttlMs }: { readonly max: number; readonly ttlMs: number },
): LRUCache<string, Value> {
  // An entry is stale when it is older than `ttl`. With a resolution of 0 the clock is read each time.
  return new LRUCache({ max, ttl: ttlMs - 1, ttlResolution: 0, perf: clock });
}
