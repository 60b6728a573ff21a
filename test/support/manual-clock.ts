import type { Clock } from '../../src/core/clock.ts';

/** A clock that stands still until it is advanced. */
export interface ManualClock extends Clock {
  /** Moves time on by `ms` and wakes those whose sleep is over, in order. */
  advance(ms: number): Promise<void>;
}

interface Sleeper {
  readonly atMs: number;
  wake(): void;
}

/** Creates a clock that shows the given instant, 2026-11-21 00:00 UTC by default. */
export function createManualClock(startMs = Date.UTC(2026, 10, 21)): ManualClock {
  let now = startMs;
  const sleepers = new Set<Sleeper>();
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const stop = () => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        const wake = () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        };
        const sleeper = { atMs: now + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', stop, { once: true });
      }),
    advance: async (ms) => {
      now += ms;
      const due = [...sleepers].filter(({ atMs }) => atMs <= now).sort((a, b) => a.atMs - b.atMs);
      for (const sleeper of due) {
        sleepers.delete(sleeper);
        sleeper.wake();
      }
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
