import type { Clock } from '../../core/clock.ts';
import { createLine, type Waiting } from './line.ts';

/** Work for a client, which takes one of the places. */
interface Task extends Waiting {
  /** Never rejects. */
  run(): Promise<void>;
  /** Called instead of `run` if no more work begins. */
  drop?(): void;
}

interface FairWorkOptions {
  readonly atOnce: number;
  readonly clock: Clock;
  isReady(): boolean;
}

export type FairWork = ReturnType<typeof createFairWork>;

/** Milliseconds between two looks at whether work can begin. */
const readyMs = 250;

/** Creates places for work of all kinds, fairly between clients: as soon as one is free, the next in the line begins. */
export function createFairWork({ atOnce, clock, isReady }: FairWorkOptions) {
  const line = createLine<Task>();
  const closed = new AbortController();
  let atWork = 0;
  let isAwaited = false;
  const pump = (): void => {
    const hasNext = () => !closed.signal.aborted && atWork < atOnce && line.length > 0;
    while (hasNext() && isReady()) {
      const next = line.take();
      if (next !== undefined) void begin(next);
    }
    if (hasNext() && !isAwaited) void awaitReady();
  };
  const begin = async (task: Task): Promise<void> => {
    atWork += 1;
    try {
      await task.run();
    } finally {
      atWork -= 1;
      pump();
    }
  };
  const awaitReady = async (): Promise<void> => {
    isAwaited = true;
    await Promise.allSettled([clock.sleep(readyMs, closed.signal)]);
    isAwaited = false;
    pump();
  };
  return {
    get waiting() {
      return line.length;
    },
    join: (task: Task): void => {
      line.join(task);
      pump();
    },
    leave: line.leave,
    /** Begins no more of it, and drops what waits; what has begun goes on. */
    close: (): void => {
      closed.abort();
      for (let task = line.take(); task !== undefined; task = line.take()) task.drop?.();
    },
  };
}

/** Work whose `signal` ends the wait for a place, and its error if no more work begins. */
interface AwaitedWork<Value> extends Waiting {
  readonly signal: AbortSignal;
  run(): Promise<Value>;
  toDropped(): Error;
}

/** Runs work as soon as there is a place for it. Rejects with the signal's reason, or as the work does. */
export function runFairly<Value>(work: FairWork, awaited: AwaitedWork<Value>): Promise<Value> {
  const { signal, key, client, order } = awaited;
  const over = new AbortController();
  const done = new Promise<Value>((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      work.leave(key);
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true, signal: over.signal });
    const run = async () => {
      try {
        resolve(await awaited.run());
      } catch (error) {
        reject(error);
      }
    };
    work.join({ key, client, order, run, drop: () => reject(awaited.toDropped()) });
  });
  return done.finally(() => over.abort());
}
