import type { Clock } from '../../core/clock.ts';

/** Keeps values by their keys for a while; the oldest go first. */
export interface Memory<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

/** How much a memory keeps, and for how long. */
export interface MemoryOptions {
  readonly clock: Clock;
  readonly maxEntries: number;
  readonly ttlMs: number;
}

/** Creates a memory with nothing in it. */
export function createMemory<Value>({ clock, maxEntries, ttlMs }: MemoryOptions): Memory<Value> {
  const kept = new Map<string, { readonly value: Value; readonly untilMs: number }>();
  return {
    get: (key) => {
      const entry = kept.get(key);
      return entry !== undefined && clock.now() < entry.untilMs ? entry.value : undefined;
    },
    set: (key, value) => {
      kept.delete(key);
      kept.set(key, { value, untilMs: clock.now() + ttlMs });
      const [oldest] = kept.keys();
      if (kept.size > maxEntries && oldest !== undefined) kept.delete(oldest);
    },
    delete: (key) => {
      kept.delete(key);
    },
  };
}
