import type { Loop } from './loop.ts';
import { createSlices, type Slices } from './slices.ts';

/** Limits for the tasks that a fair scheduler starts in one iteration of the event loop. */
export interface TurnLimits {
  /** Maximum number of tasks that start for each client in one event loop iteration. */
  readonly each: number;
  /** Maximum number of tasks that start in one event loop iteration, for all clients together. Default: no limit. */
  readonly all?: number;
  /**
   * Target duration of an event loop iteration in milliseconds. After a longer iteration, the limit for the next one is
   * half the number of tasks that the longer one started, but at least 1.
   */
  readonly ms?: number;
}

/** Fair scheduler. Clients take turns, so that the requests of one client do not delay the other clients. */
export interface Turns {
  /**
   * Queues a task, and calls `go` once when it is the client's turn. `go` starts the task, or returns `false` if the
   * task no longer needs the turn. In that case, the next waiting task gets the turn.
   */
  take(client: string, go: () => boolean): void;
}

interface Queue {
  taken: number;
  readonly waiting: (() => boolean)[];
}

/**
 * Creates a scheduler in which clients take turns. In each event loop iteration, it starts up to `each` tasks per
 * client and up to `all` tasks in total. Any number of other tasks can wait.
 */
export function createTurns(
  { each, all = Number.POSITIVE_INFINITY, ms = Number.POSITIVE_INFINITY }: TurnLimits,
  { nextPass }: Loop,
): Turns {
  const queues = new Map<string, Queue>();
  let taken = 0;
  let isPassScheduled = false;
  let limit = all;
  const schedulePass = () => {
    if (isPassScheduled || queues.size === 0) return;
    isPassScheduled = true;
    nextPass(pass);
  };
  const hasTurn = (queue: Queue) => queue.taken < each && taken < limit;
  const adapt = (admitted: number, tookMs: number) =>
    tookMs > ms ? Math.max(1, Math.floor(Math.min(limit, admitted) / 2)) : Math.min(all, limit * 2);
  const use = (queue: Queue, go: () => boolean): void => {
    if (!go()) return;
    queue.taken += 1;
    taken += 1;
  };
  const admit = (client: string, queue: Queue): void => {
    queues.delete(client);
    queues.set(client, queue); // behind the other waiting clients
    queue.taken = 0;
    while (hasTurn(queue)) {
      const go = queue.waiting.shift();
      if (go === undefined) return;
      use(queue, go);
    }
  };
  const pass = (lengthMs: number): void => {
    isPassScheduled = false;
    limit = adapt(taken, lengthMs);
    taken = 0;
    for (const [client, { waiting }] of queues) if (waiting.length === 0) queues.delete(client);
    schedulePass();
    for (const [client, queue] of [...queues]) if (taken < limit) admit(client, queue);
  };
  return {
    take: (client, go) => {
      const queue = queues.get(client) ?? { taken: 0, waiting: [] };
      queues.set(client, queue);
      schedulePass();
      if (queue.waiting.length === 0 && hasTurn(queue)) use(queue, go);
      else queue.waiting.push(go);
    },
  };
}

/**
 * Waits for the client's turn, then calls `isUsed` and returns its result. `isUsed` returns `false` if the task no
 * longer needs the turn; the next waiting task then gets the turn.
 */
export function waitForTurn(turns: Turns, client: string, isUsed: () => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    turns.take(client, () => {
      const used = isUsed();
      resolve(used);
      return used;
    });
  });
}

/**
 * Creates callbacks that divide a client's task into time slices. After each slice, the task waits until the scheduler
 * `turns` lets the client continue.
 */
export const sliceByTurns = (turns: Turns, client: string): Slices =>
  createSlices(() => waitForTurn(turns, client, () => true));

const shortMs = 10; // maximum duration in milliseconds of an iteration that is not followed by a pause

/**
 * Creates a fair scheduler for CPU-heavy work. The scheduler starts one task in each event loop iteration and
 * alternates between clients. After a long iteration, the next task waits for twice the duration of that iteration.
 */
export function createHeavyTurns(loop: Loop): Turns {
  const nextPass: Loop['nextPass'] = (run) =>
    loop.nextPass((lengthMs) => {
      if (lengthMs <= shortMs) run(lengthMs);
      else setTimeout(run, 2 * lengthMs, lengthMs);
    });
  return createTurns({ each: 1, all: 1 }, { nextPass });
}
