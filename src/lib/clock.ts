import { setTimeout } from 'node:timers/promises';

/** Source of time for the whole server, replaceable in tests. All values are milliseconds. */
export interface Clock {
  /** Returns the current time in milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason if it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    setTimeout(ms, undefined, { signal }).catch(() => {
      throw signal?.reason;
    }),
};

/** Formats Unix milliseconds as ISO 8601 UTC with seconds: `2026-03-04T09:12:00Z`. */
export const toIsoSeconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;

/** Creates a clock that is never set back, so that limits and pauses do not last longer. */
export function createSteadyClock<Given extends Pick<Clock, 'now'>>(clock: Given): Given {
  let lastMs = clock.now();
  let offsetMs = 0;
  return {
    ...clock,
    now: () => {
      const nowMs = clock.now();
      if (nowMs < lastMs) offsetMs += lastMs - nowMs;
      lastMs = nowMs;
      return nowMs + offsetMs;
    },
  };
}
