import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Problem } from '../../core/problem.ts';

export type Load = { readonly isHigh: boolean };

export type LoadGauge = Load & {
  /** Mean event-loop delay of the last 250 ms in seconds; absent if the gauge is off. */
  readonly delaySeconds?: number;
  close(): void;
};

/** Opens a gauge that checks every 250 ms whether the mean event-loop delay reaches `maxDelayMs`. 0: no checks. */
export function openLoadGauge(maxDelayMs: number): LoadGauge {
  if (maxDelayMs <= 0) return { isHigh: false, close: () => undefined };
  let meanNanoseconds = 0;
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  const timer = setInterval(() => {
    meanNanoseconds = delays.count === 0 ? 0 : delays.mean;
    delays.reset();
  }, 250);
  timer.unref();
  return {
    get isHigh() {
      return meanNanoseconds >= maxDelayMs * 1e6;
    },
    get delaySeconds() {
      return meanNanoseconds / 1e9;
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

/** Counter of unfinished tasks. A shutdown waits until the counter is 0. */
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
