import { setTimeout } from 'node:timers/promises';

/** The only source of time. All values are milliseconds. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Resolves after `ms`, or rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    setTimeout(ms, undefined, { signal }).catch(() => {
      throw signal?.reason;
    }),
};

/** Returns an instant in milliseconds as ISO 8601 UTC with seconds: `2026-03-04T09:12:00Z`. */
export const toIsoSeconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`;
