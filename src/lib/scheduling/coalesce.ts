import { untilAborted } from './deadline.ts';

interface InFlight<Value> {
  readonly result: Promise<Value>;
  readonly controller: AbortController;
  callers: number;
  isSettled: boolean;
}

/** Creates a function that shares work between callers and aborts it when no caller waits. */
export function createCoalescer<Value>() {
  const inFlight = new Map<string, InFlight<Value>>();
  const begin = (key: string, start: (signal: AbortSignal) => Promise<Value>): InFlight<Value> => {
    const controller = new AbortController();
    const result = start(controller.signal).finally(() => {
      fetch.isSettled = true;
      if (inFlight.get(key)?.controller === controller) inFlight.delete(key);
    });
    const fetch: InFlight<Value> = { result, controller, callers: 0, isSettled: false };
    inFlight.set(key, fetch);
    return fetch;
  };
  const leave = (key: string, fetch: InFlight<Value>): void => {
    fetch.callers -= 1;
    if (fetch.callers > 0) return;
    if (inFlight.get(key) === fetch) inFlight.delete(key);
    if (!fetch.isSettled) fetch.controller.abort(); // the abort error is expensive
  };
  /** Shares in-flight work for `key`. @throws its error, or the abort reason of `signal` */
  return async (
    key: string,
    signal: AbortSignal | undefined,
    start: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> => {
    signal?.throwIfAborted();
    const fetch = inFlight.get(key) ?? begin(key, start);
    fetch.callers += 1;
    try {
      const { result } = fetch;
      return await (signal ? untilAborted(result, signal) : result);
    } finally {
      leave(key, fetch);
    }
  };
}
