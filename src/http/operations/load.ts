import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Problem } from '../../core/problem.ts';

export type Load = { readonly isHigh: boolean };

export type LoadGauge = Load & { close(): void };

/** Opens a gauge: high while the event loop was late by `maxDelayMs` or more on average over 250 ms; 0 means never. */
export function openLoadGauge(maxDelayMs: number): LoadGauge {
  if (maxDelayMs <= 0) return { isHigh: false, close: () => undefined };
  let isHigh = false;
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  const timer = setInterval(() => {
    isHigh = delays.mean >= maxDelayMs * 1e6; // nanoseconds
    delays.reset();
  }, 250);
  timer.unref();
  return {
    get isHigh() {
      return isHigh;
    },
    close: () => {
      clearInterval(timer);
      delays.disable();
    },
  };
}

export function overloaded(): Problem {
  return new Problem('overloaded', { detail: 'The server has more work than it can do.' });
}

/** Count of the work in flight, so that a shutdown can wait for it. */
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
