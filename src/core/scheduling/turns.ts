import type { Loop } from './loop.ts';
import { createSlices, type Slices } from './slices.ts';

/** Maximum numbers of turns in one pass of the event loop. */
export interface TurnLimits {
  /** Turns of each client. */
  readonly each: number;
  /** Turns of all clients together; default: no limit. */
  readonly all?: number;
  /** Target duration of a pass in milliseconds. A longer pass halves the number of turns. Default: no target. */
  readonly ms?: number;
}

/** Fair scheduler: clients take turns, so that the requests of one client do not delay those of others. */
export interface Turns {
  /** Calls `go` now or in a later pass of the event loop. If `go` returns `false`, the next waiter gets the turn. */
  take(client: string, go: () => boolean): void;
}

interface Queue {
  taken: number;
  readonly waiting: (() => boolean)[];
}

/** Creates a fair scheduler. The number of waiters is bounded only by the number of connections. */
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
    queues.set(client, queue); // behind the clients that still wait
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

/** Waits for a client's turn; resolves to `isUsed()`. If `isUsed()` is `false`, the next waiter gets the turn. */
export function waitForTurn(turns: Turns, client: string, isUsed: () => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    turns.take(client, () => {
      const used = isUsed();
      resolve(used);
      return used;
    });
  });
}

/** Creates the time slices of a client's work. Each slice takes a turn. */
export const sliceByTurns = (turns: Turns, client: string): Slices =>
  createSlices(() => waitForTurn(turns, client, () => true));

const shortMs = 10; // maximum duration in milliseconds of a pass that is not followed by a pause

/**
 * Creates a fair scheduler for CPU-heavy work. Each pass of the event loop admits one turn, and clients alternate. After
 * a long pass, the next turn waits for twice the duration of that pass.
 */
export function createHeavyTurns(loop: Loop): Turns {
  const nextPass: Loop['nextPass'] = (run) =>
    loop.nextPass((lengthMs) => {
      if (lengthMs <= shortMs) run(lengthMs);
      else setTimeout(run, 2 * lengthMs, lengthMs);
    });
  return createTurns({ each: 1, all: 1 }, { nextPass });
}
