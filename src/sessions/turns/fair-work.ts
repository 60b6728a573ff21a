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
  /** Returns whether work can begin. */
  isReady(): boolean;
}

/** Work of all kinds for all clients, a few at a time, fairly between clients. */
export type FairWork = ReturnType<typeof createFairWork>;

/** Milliseconds between two looks at whether work can begin. */
const readyMs = 250;

/** Creates the places for work: as soon as one is free, the next in the line begins. */
export function createFairWork({ atOnce, clock, isReady }: FairWorkOptions) {
  const line = createLine<Task>();
  const closed = new AbortController();
  let atWork = 0;
  let isAwaited = false;
  const pump = (): void => {
    while (!closed.signal.aborted && atWork < atOnce && line.length > 0) {
      if (!isReady()) {
        awaitReady();
        return;
      }
      const next = line.take();
      if (next !== undefined) void begin(next);
    }
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
  const awaitReady = (): void => {
    if (isAwaited) return;
    isAwaited = true;
    clock.sleep(readyMs, closed.signal).then(
      () => {
        isAwaited = false;
        pump();
      },
      () => undefined, // no more work begins
    );
  };
  return {
    get waiting() {
      return line.length;
    },
    join: (task: Task): void => {
      line.join(task);
      pump();
    },
    /** Takes out a task that has not begun. */
    leave: line.leave,
    /** Begins no more of it, and drops what waits; what has begun goes on. */
    close: (): void => {
      closed.abort();
      for (let task = line.take(); task !== undefined; task = line.take()) task.drop?.();
    },
  };
}

interface AwaitedWork<Value> extends Waiting {
  /** Ends the wait for a place. What is at work has to end by itself. */
  readonly signal: AbortSignal;
  run(): Promise<Value>;
  /** Returns the error if no more work begins. */
  toDropped(): Error;
}

/** Runs work as soon as there is a place for it. Rejects with the signal's reason, or as the work does. */
export function runFairly<Value>(work: FairWork, awaited: AwaitedWork<Value>): Promise<Value> {
  const { signal, key, client, order } = awaited;
  return new Promise((resolve, reject) => {
    const stop = () => {
      work.leave(key);
      reject(signal.reason);
    };
    if (signal.aborted) {
      stop();
      return;
    }
    signal.addEventListener('abort', stop, { once: true });
    const run = async () => {
      try {
        resolve(await awaited.run());
      } catch (error) {
        reject(error);
      } finally {
        signal.removeEventListener('abort', stop);
      }
    };
    const drop = () => {
      signal.removeEventListener('abort', stop);
      reject(awaited.toDropped());
    };
    work.join({ key, client, order, run, drop });
  });
}
