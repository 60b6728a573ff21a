import { untilAborted } from '../../providers/failure.ts';

interface Flight<Value> {
  readonly result: Promise<Value>;
  readonly controller: AbortController;
  waiting: number;
}

/** Creates a function that runs work once for concurrent callers, until the last one leaves. */
export function createCoalescer<Value>() {
  const flights = new Map<string, Flight<Value>>();
  const begin = (key: string, start: (signal: AbortSignal) => Promise<Value>): Flight<Value> => {
    const controller = new AbortController();
    const result = start(controller.signal).finally(() => {
      if (flights.get(key)?.controller === controller) flights.delete(key);
    });
    const flight = { result, controller, waiting: 0 };
    flights.set(key, flight);
    return flight;
  };

  const leave = (key: string, flight: Flight<Value>): void => {
    flight.waiting -= 1;
    if (flight.waiting > 0) return;
    if (flights.get(key) === flight) flights.delete(key);
    flight.controller.abort();
  };

  /** @throws what `start` throws, or the signal's reason */
  return async (
    key: string,
    signal: AbortSignal | undefined,
    start: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> => {
    signal?.throwIfAborted();
    const flight = flights.get(key) ?? begin(key, start);
    flight.waiting += 1;
    try {
      const { result } = flight;
      return await (signal ? untilAborted(result, signal, () => signal.reason) : result);
    } finally {
      leave(key, flight);
    }
  };
}
