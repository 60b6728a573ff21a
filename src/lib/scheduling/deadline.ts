import { setMaxListeners } from 'node:events';

/** Calls `work` with a deadline. `AbortSignal.any` can lose timeouts and leak memory in Node 20. */
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

export type Deadline = ReturnType<typeof openDeadline>;

/** Starts a deadline for work in several steps. Callers must call `close`. */
export function openDeadline(ms: number, signals: readonly AbortSignal[]) {
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
    /** Signal aborted by the deadline, by a signal passed to `openDeadline`, or by `abort`. */
    signal: controller.signal,
    /** Whether the signal was aborted because the time is over. */
    get isExpired() {
      return isExpired;
    },
    /** Restarts the timer with `ms` milliseconds. Does nothing after the signal was aborted. */
    restart: (nextMs: number) => {
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

/** Returns `result`, or throws `reasonOf()` if the signal is aborted first. Leaves no listener. */
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
