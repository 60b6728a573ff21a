import type { Loop } from './loop.ts';

/** Limits for the tasks that a fair scheduler starts in one iteration of the event loop. */
export interface TurnLimits {
  /** Maximum number of tasks that start for each client in one event loop iteration. */
  readonly each: number;
  /** Maximum number that start in one iteration, for all clients together. Default: no limit. */
  readonly all?: number;
  /** Target duration of an iteration. After a longer one, only half as many tasks may start. */
  readonly ms?: number;
}

/** Fair scheduler: the requests of one client do not delay the other clients. */
export interface Turns {
  /** Calls `go` once at the client's turn. If it returns `false`, the next task gets the turn. */
  take(client: string, go: () => boolean): void;
}

interface Queue {
  taken: number;
  readonly waiting: (() => boolean)[];
}

/** Creates a scheduler that starts up to `each` tasks per client and `all` per loop iteration. */
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

/** Waits for the turn, then returns `isUsed()`. If `false`, the next task gets the turn. */
export function waitForTurn(turns: Turns, client: string, isUsed: () => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    turns.take(client, () => {
      const used = isUsed();
      resolve(used);
      return used;
    });
  });
}

const shortMs = 10; // maximum duration in milliseconds of an iteration that is not followed by a pause

/** Creates a fair scheduler of one task per iteration. After a long one, waits twice as long. */
export function createHeavyTurns(loop: Loop): Turns {
  const nextPass: Loop['nextPass'] = (run) =>
    loop.nextPass((lengthMs) => {
      if (lengthMs <= shortMs) run(lengthMs);
      else setTimeout(run, 2 * lengthMs, lengthMs);
    });
  return createTurns({ each: 1, all: 1 }, { nextPass });
}
