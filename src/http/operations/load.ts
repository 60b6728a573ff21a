import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Problem } from '../../core/problem.ts';

export interface Load {
  readonly isHigh: boolean;
}

export interface LoadGauge extends Load {
  close(): void;
}

const sampleMs = 250;
const nanosecondsPerMs = 1e6;

/** Opens a gauge. The load is high if the event loop's mean delay over 250 ms is `maxDelayMs` or more; 0 means never. */
export function openLoadGauge(maxDelayMs: number): LoadGauge {
  if (maxDelayMs <= 0) return { isHigh: false, close: () => undefined };
  let isHigh = false;
  const delays = monitorEventLoopDelay({ resolution: 10 });
  delays.enable();
  const timer = setInterval(() => {
    isHigh = delays.mean >= maxDelayMs * nanosecondsPerMs;
    delays.reset();
  }, sampleMs);
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

/** Returns the problem of a process under high load. */
export function overloaded(): Problem {
  return new Problem('overloaded', { detail: 'The server has more work than it can do.' });
}
