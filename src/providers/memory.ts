import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';

/** Creates a cache of `max` entries that expire `ttlMs` after they were set. */
export function createMemory<Value extends NonNullable<unknown>>(
  clock: Clock,
  { max, ttlMs }: { readonly max: number; readonly ttlMs: number },
): LRUCache<string, Value> {
  return new LRUCache({
    // `max` would allocate for all entries at once.
    maxSize: max,
    sizeCalculation: () => 1,
    // An entry is stale when it is older than `ttl`. With a resolution of 0 the clock is read each time.
    ttl: ttlMs - 1,
    ttlResolution: 0,
    perf: clock,
  });
}
