import { LRUCache } from 'lru-cache';
import { type Clock, createSteadyClock } from '../core/clock.ts';

/** Creates an LRU cache. An entry expires `ttlMs` milliseconds after it was set. */
export function createExpiringCache<Value extends NonNullable<unknown>>(
  clock: Clock,
  { max, ttlMs }: { readonly max: number; readonly ttlMs: number },
): LRUCache<string, Value> {
  return new LRUCache({
    // `max` would allocate memory for all entries at once.
    maxSize: max,
    sizeCalculation: () => 1,
    // The library expires an entry when it is older than `ttl`. A resolution of 0 reads the clock
    // on each access.
    ttl: ttlMs - 1,
    ttlResolution: 0,
    perf: createSteadyClock(clock),
  });
}
