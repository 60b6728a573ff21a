import { untilAborted } from './deadline.ts';

interface InFlight<Value> {
  readonly result: Promise<Value>;
  readonly controller: AbortController;
  callers: number;
  isSettled: boolean;
}

/**
 * Creates a function that shares work between callers and aborts it when no caller waits. If work
 * fails with an error that concerns only the caller who started it, such as an exceeded quota, the
 * next waiting caller starts it again.
 */
export function createCoalescer<Value>(concernsStarter: (error: unknown) => boolean = () => false) {
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
  const share = async (
    key: string,
    signal: AbortSignal | undefined,
    start: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> => {
    signal?.throwIfAborted();
    const known = inFlight.get(key);
    const work = known ?? begin(key, start);
    work.callers += 1;
    try {
      return await (signal ? untilAborted(work.result, signal) : work.result);
    } catch (error) {
      if (known === undefined || signal?.aborted || !concernsStarter(error)) throw error;
    } finally {
      leave(key, work);
    }
    return share(key, signal, start);
  };
  return share;
}
