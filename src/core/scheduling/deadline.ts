import { setMaxListeners } from 'node:events';

/**
 * Runs work with a signal that is aborted after `ms` milliseconds, or together with one of `signals`. Node 20 can
 * collect an `AbortSignal.timeout` within `AbortSignal.any`, and a long-lived signal keeps each signal made of it.
 */
export async function withDeadline<Result>(
  ms: number,
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const deadline = openDeadline(ms, signals);
  try {
    return await work(deadline.signal);
  } finally {
    deadline.close();
  }
}

/** A deadline for work that is not one promise. Close it with `close()`. */
export interface Deadline {
  /** Aborted when the time is over, together with one of the signals, or by `abort`. */
  readonly signal: AbortSignal;
  /** Whether the time is over, rather than that `abort` was called. */
  readonly isLate: boolean;
  /** Starts the time anew, with `ms` milliseconds from now. Changes nothing once it is over. */
  restart(ms: number): void;
  abort(): void;
  close(): void;
}

export function openDeadline(ms: number, signals: readonly AbortSignal[]): Deadline {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal); // many requests wait for the one signal
  let isLate = false;
  const abort = () => controller.abort();
  const expire = () => {
    isLate = !controller.signal.aborted;
    abort();
  };
  let timer = setTimeout(expire, ms);
  for (const signal of signals) {
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  }
  return {
    signal: controller.signal,
    get isLate() {
      return isLate;
    },
    restart: (nextMs) => {
      clearTimeout(timer);
      if (!controller.signal.aborted) timer = setTimeout(expire, nextMs);
    },
    abort,
    close: () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', abort);
    },
  };
}
