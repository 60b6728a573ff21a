import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';

interface MemoryOptions {
  readonly clock: Clock;
  readonly maxEntries: number;
  readonly ttlMs: number;
}

/** Creates a cache whose entries expire `ttlMs` after they were set. */
export function createMemory<Value extends NonNullable<unknown>>({
  clock,
  maxEntries,
  ttlMs,
}: MemoryOptions): LRUCache<string, Value> {
  // An entry is stale when it is older than `ttl`. With a resolution of 0 the clock is read each time.
  return new LRUCache({ max: maxEntries, ttl: ttlMs - 1, ttlResolution: 0, perf: clock });
}
