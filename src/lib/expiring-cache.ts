import { LRUCache } from 'lru-cache';
import { type Clock, createSteadyClock } from './clock.ts';

/** Creates an LRU cache. An entry expires `ttlMs` milliseconds after it was set. `max`: entries. */
export function createExpiringCache<Value extends NonNullable<unknown>>(
  clock: Clock,
  { max, ttlMs }: { readonly max: number; readonly ttlMs: number },
  sizeOf: (value: Value) => number = () => 1, // then `max` is the sum of these
): LRUCache<string, Value> {
  return new LRUCache({
    // `max` would allocate memory for all entries at once.
    maxSize: max,
    sizeCalculation: sizeOf,
    // The library expires an entry when it is older than `ttl`. A resolution of 0 reads the clock
    // on each access.
    ttl: ttlMs - 1,
    ttlResolution: 0,
    perf: createSteadyClock(clock),
  });
}
