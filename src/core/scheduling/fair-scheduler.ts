import type { Clock } from '../clock.ts';
import { createFairQueue, type QueuedTask } from './fair-queue.ts';

interface Task extends QueuedTask {
  /** Runs the task. The promise never rejects. */
  run(): Promise<void>;
  /** Called instead of `run` if the scheduler is closed before the task starts. */
  drop?(): void;
}

interface SchedulerOptions {
  readonly atOnce: number;
  /** Maximum number of running tasks of one client address. Default: no limit. */
  readonly atOnceOfAddress?: number;
  readonly clock: Clock;
  /** Returns whether a task can start now; if not, it is called again later. Default: always. */
  isReady?(): boolean;
}

export type Scheduler = ReturnType<typeof createScheduler>;

const pollMs = 250; // interval of checks whether tasks can start

/** Creates a scheduler of up to `atOnce` concurrent tasks, started from each network in turn. */
export function createScheduler(options: SchedulerOptions) {
  const { atOnce, atOnceOfAddress = atOnce, clock, isReady = () => true } = options;
  const queue = createFairQueue<Task>();
  const closed = new AbortController();
  const runningOf = new Map<string, number>();
  let running = 0;
  let isPolling = false;
  const mayRun = (address: string) => (runningOf.get(address) ?? 0) < atOnceOfAddress;
  const hasNext = () => !closed.signal.aborted && running < atOnce && queue.length > 0;
  const pump = (): void => {
    while (hasNext() && isReady()) {
      const next = queue.take(mayRun);
      if (next === undefined) return;
      void begin(next);
    }
    if (hasNext() && !isPolling) void poll();
  };
  const count = (address: string, change: 1 | -1): void => {
    const now = (runningOf.get(address) ?? 0) + change;
    running += change;
    if (now === 0) runningOf.delete(address);
    else runningOf.set(address, now);
  };
  const begin = async (task: Task): Promise<void> => {
    const address = task.client?.address ?? '';
    count(address, 1);
    try {
      await task.run();
    } finally {
      count(address, -1);
      pump();
    }
  };
  const poll = async (): Promise<void> => {
    isPolling = true;
    await Promise.allSettled([clock.sleep(pollMs, closed.signal)]);
    isPolling = false;
    pump();
  };
  return {
    get waiting() {
      return queue.length;
    },
    add: (task: Task): void => {
      queue.add(task);
      pump();
    },
    remove: queue.remove,
    /** Drops the queued tasks and starts no further tasks. Running tasks continue. */
    close: (): void => {
      closed.abort();
      for (let task = queue.take(); task !== undefined; task = queue.take()) task.drop?.();
    },
  };
}

interface ScheduledTask<Value> extends QueuedTask {
  readonly signal: AbortSignal;
  run(): Promise<Value>;
  toDropped(): Error;
}

/** Runs a task in turn. Rejects if it fails, is aborted, or the scheduler closes first. */
export function runScheduled<Value>(
  scheduler: Scheduler,
  task: ScheduledTask<Value>,
): Promise<Value> {
  const { signal, key, client, order } = task;
  const settled = new AbortController();
  const done = new Promise<Value>((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      scheduler.remove(key);
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true, signal: settled.signal });
    const run = async () => {
      try {
        resolve(await task.run());
      } catch (error) {
        reject(error);
      }
    };
    scheduler.add({ key, client, order, run, drop: () => reject(task.toDropped()) });
  });
  return done.finally(() => settled.abort());
}
