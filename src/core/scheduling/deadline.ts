import { setMaxListeners } from 'node:events';

/**
 * Calls `work` with an AbortSignal that is aborted after `ms` milliseconds or when one of `signals` is aborted.
 * `AbortSignal.any` and `AbortSignal.timeout` are not used, because in Node 20 they can lose timeouts and leak memory.
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

/** Deadline for work in several steps. Callers must call `close`. */
export interface Deadline {
  /**
   * Signal that is aborted when the time is over, when a signal passed to `openDeadline` is
   * aborted, or when `abort` is called.
   */
  readonly signal: AbortSignal;
  /** Whether the signal was aborted because the time is over. */
  readonly isExpired: boolean;
  /** Restarts the timer, which then ends `ms` milliseconds from now. Does nothing after the signal was aborted. */
  restart(ms: number): void;
  abort(): void;
  close(): void;
}

export function openDeadline(ms: number, signals: readonly AbortSignal[]): Deadline {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal); // many requests listen to the same signal
  let isExpired = false;
  const abort = () => controller.abort();
  const expire = () => {
    isExpired = !controller.signal.aborted;
    abort();
  };
  let timer = setTimeout(expire, ms);
  for (const signal of signals) {
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  }
  return {
    signal: controller.signal,
    get isExpired() {
      return isExpired;
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

/**
 * Returns `result` when it is available. Throws the value of `reasonOf()`, by default the reason of the signal, if the
 * signal is aborted first. Leaves no listener at the signal.
 */
export function untilAborted<Result>(
  result: Promise<Result>,
  signal: AbortSignal,
  reasonOf: () => unknown = () => signal.reason,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(reasonOf());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
