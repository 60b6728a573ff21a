import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Problem } from '../../lib/problem.ts';

export type Load = { readonly isHigh: boolean };

/** Mean event-loop delays in milliseconds: last interval, and highest one in the last minute. */
export type EventLoopDelay = Readonly<Record<'nowMs' | 'highestMs', number>>;

export type LoadGauge = Load & {
  /** `null` or absent if it is not measured. */
  readonly delay?: EventLoopDelay | null;
  close(): void;
};

const checkMs = 250;

/** Interval in milliseconds, which Node adds to its samples of the event-loop delay. */
const resolutionMs = 10;

/** Opens a gauge of the mean delay in each 250 ms. If `maxDelayMs` is 0, nothing is measured. */
export function openLoadGauge(maxDelayMs: number): LoadGauge {
  if (maxDelayMs <= 0) return { isHigh: false, close: () => undefined };
  let isHigh = false;
  const means: number[] = []; // in the last minute
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  const timer = setInterval(() => {
    // `NaN` if the loop was blocked for the whole interval. Node measures in nanoseconds.
    const meanMs = Math.max(0, delays.mean / 1e6 - resolutionMs);
    isHigh = meanMs >= maxDelayMs;
    if (!Number.isNaN(meanMs)) means.push(meanMs);
    if (means.length > 60_000 / checkMs) means.shift();
    delays.reset();
  }, checkMs);
  timer.unref();
  return {
    get isHigh() {
      return isHigh;
    },
    get delay() {
      return { nowMs: means.at(-1) ?? 0, highestMs: Math.max(0, ...means) };
    },
    close: () => {
      clearInterval(timer);
      delays.disable();
    },
  };
}

export function overloaded(): Problem {
  return new Problem('overloaded', { detail: 'The server is overloaded.' });
}

/** Counter of unfinished operations. A shutdown waits until it is 0. */
export type Work = ReturnType<typeof createWork>;

export function createWork() {
  let inFlight = 0;
  return {
    get inFlight() {
      return inFlight;
    },
    track: async <Value>(work: Promise<Value>): Promise<Value> => {
      inFlight += 1;
      try {
        return await work;
      } finally {
        inFlight -= 1;
      }
    },
  };
}
