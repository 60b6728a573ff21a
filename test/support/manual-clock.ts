import type { Clock } from '../../src/lib/clock.ts';

/** Clock that stands still until a test advances it. */
export interface ManualClock extends Clock {
  /** Advances the time by `ms` and ends the sleeps that are due, in order. */
  advance(ms: number): Promise<void>;
}

interface Sleeper {
  readonly atMs: number;
  wake(): void;
}

/** Creates a clock with the given start time, by default 2026-11-21 00:00 UTC. */
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
