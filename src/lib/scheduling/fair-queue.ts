import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../caller.ts';
import { type Clock, systemClock } from '../clock.ts';

interface Task {
  readonly client: Client | null;
  /** Name for `remove`. While a task waits, others with its name are not added. Default: unique. */
  readonly key?: string;
  /** Sort key of the tasks of a client address. Default: the order of arrival. */
  readonly order?: string;
  /** Runs the task. The promise never rejects. */
  run(): Promise<unknown>;
  /** Called instead of `run` if the queue is closed before the task starts. */
  drop?(): void;
}

interface FairQueueOptions {
  readonly atOnce: number;
  /** Maximum number of running tasks of one client address. Default: no limit. */
  readonly atOnceOfAddress?: number;
  readonly clock?: Clock;
  /** Returns whether a task can start now; if not, it is called again later. Default: always. */
  isReady?(): boolean;
}

interface ResultTask<Value> extends Pick<Task, 'client' | 'key' | 'order'> {
  readonly signal: AbortSignal;
  run(): Promise<Value>;
  toDropped(): Error;
}

export type FairQueue = ReturnType<typeof createFairQueue>;

const pollMs = 250; // interval of checks whether tasks can start

/** Creates a queue that runs up to `atOnce` tasks, taken from each client network in turn. */
export function createFairQueue(options: FairQueueOptions) {
  const { atOnce, atOnceOfAddress = atOnce, clock = systemClock, isReady } = options;
  const waiting = createRotation<Task>();
  const closed = new AbortController();
  const runningOf = new Map<string, number>();
  let [running, isPolling] = [0, false];
  const mayRun = (address: string) => (runningOf.get(address) ?? 0) < atOnceOfAddress;
  const hasRoom = () => !closed.signal.aborted && running < atOnce;
  const pump = (): void => {
    while (waiting.length > 0 && hasRoom()) {
      if (isReady?.() === false) return void poll();
      const next = waiting.take(mayRun);
      if (next === undefined) return;
      void begin(next);
    }
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
    if (isPolling) return;
    isPolling = true;
    await Promise.allSettled([clock.sleep(pollMs, closed.signal)]);
    isPolling = false;
    pump();
  };
  const add = (task: Task): (() => void) => {
    const isFree = waiting.length === 0 && hasRoom() && mayRun(task.client?.address ?? '');
    const isFirst = isFree && isReady?.() !== false;
    if (isFirst) void begin(task);
    const remove = isFirst ? () => undefined : waiting.add(task);
    pump();
    return remove;
  };
  return {
    get waiting() {
      return waiting.length;
    },
    /** Adds a task. Returns a function that removes the task while it waits. */
    add,
    remove: waiting.remove,
    /** Runs a task in turn. Rejects if it fails, is aborted, or the queue closes first. */
    run: <Value>(task: ResultTask<Value>): Promise<Value> => runIn(add, task),
    /** Drops the waiting tasks and starts no further tasks. Running tasks continue. */
    close: (): void => {
      closed.abort();
      for (let task = waiting.take(); task !== undefined; task = waiting.take()) task.drop?.();
    },
  };
}

function runIn<Value>(
  add: (task: Task) => () => void,
  { signal, run, toDropped, ...task }: ResultTask<Value>,
): Promise<Value> {
  const settled = new AbortController();
  const done = new Promise<Value>((resolve, reject) => {
    signal.throwIfAborted();
    const attempt = () => run().then(resolve, reject);
    const remove = add({ ...task, run: attempt, drop: () => reject(toDropped()) });
    const stop = () => {
      remove();
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true, signal: settled.signal });
  });
  return done.finally(() => settled.abort());
}

type Waiting = Pick<Task, 'client' | 'key' | 'order'>;

interface Place<Item> {
  readonly key: string;
  readonly order: string;
  readonly task: Item;
}

/** Creates a list that takes turns between networks (IPv4, IPv6 /48, or all unknown clients). */
export function createRotation<Item extends Waiting>() {
  const networks = new Map<string, Map<string, Place<Item>[]>>();
  const waiting = new Map<string, Place<Item>>();
  let arrivals = 0;
  const placesOf = (client: Client | null) => {
    const address = client?.address ?? '';
    const network = client?.network ?? address;
    const addresses = networks.get(network) ?? new Map<string, Place<Item>[]>();
    return { network, addresses, address, places: addresses.get(address) ?? [] };
  };
  const remove = (key: string): void => {
    const place = waiting.get(key);
    if (place === undefined) return;
    waiting.delete(key);
    const { network, addresses, address, places } = placesOf(place.task.client);
    places.splice(places.indexOf(place), 1);
    if (places.length === 0) addresses.delete(address);
    if (addresses.size === 0) networks.delete(network);
  };
  return {
    get length() {
      return waiting.size;
    },
    add: (task: Item): (() => void) => {
      arrivals += 1;
      const arrival = String(arrivals).padStart(16, '0');
      const { key = arrival, order = arrival } = task;
      const place = { key, order, task };
      if (waiting.has(key)) return () => undefined;
      waiting.set(key, place);
      const { network, addresses, address, places } = placesOf(task.client);
      places.splice(places.findLastIndex((one) => one.order < order) + 1, 0, place);
      addresses.set(address, places);
      networks.set(network, addresses);
      return () => {
        if (waiting.get(key) === place) remove(key);
      };
    },
    /** Returns the next task that `mayRun` accepts, by turns of networks and their addresses. */
    take: (mayRun: (address: string) => boolean = () => true): Item | undefined => {
      for (const network of networks) {
        const next = [...network[1]].find(([address]) => mayRun(address));
        if (next === undefined) continue;
        const place = next[1].shift();
        moveToEnd(network[1], next, next[1].length);
        moveToEnd(networks, network, network[1].size);
        if (place !== undefined) waiting.delete(place.key);
        return place?.task;
      }
      return undefined;
    },
    remove,
  };
}

function moveToEnd<Value>(map: Map<string, Value>, [name, value]: [string, Value], left: number) {
  map.delete(name);
  if (left > 0) map.set(name, value);
}

/** Turns for work of more than a few milliseconds, such as rendering, which clients take in turn. */
export type HeavyTurns = ReturnType<typeof createHeavyTurns>;

/** Creates turns that come one in each pass of the event loop, and later after a long pass. */
export function createHeavyTurns(loop: ServerLoop) {
  const queue = createFairQueue({ atOnce: 1 });
  return {
    /** Resolves at the client's turn. The work must follow without another wait. */
    take: (client: Client | null): Promise<void> =>
      new Promise((resolve) => {
        const run = () => {
          resolve();
          return rest(loop);
        };
        queue.add({ client, run });
      }),
  };
}

const shortMs = 10; // maximum duration in milliseconds of a pass that is not followed by a rest

/** Resolves after this pass. After a long one, others may use twice its duration first. */
async function rest(loop: ServerLoop): Promise<void> {
  const lengthMs = await new Promise<number>(loop.nextPass);
  const end = performance.now() + 2 * lengthMs;
  let isUsed = lengthMs > shortMs;
  while (isUsed && performance.now() < end) {
    const before = performance.eventLoopUtilization();
    await sleep(1);
    isUsed = performance.eventLoopUtilization(before).utilization > 0.5;
  }
}

export type ServerLoop = ReturnType<typeof createServerLoop>;

const maxAccepting = 128; // maximum number of consecutive event loop iterations that only accept connections

/** Creates a scheduler that lets connections pass first, as Node accepts one per iteration. */
export function createServerLoop() {
  let connections = 0;
  const now = () => performance.now();
  return {
    now,
    noteConnection: () => {
      connections += 1;
    },
    nextPass: (run: (lengthMs: number) => void): void => {
      const begin = now();
      const wait = (acceptingLeft: number, knownMs?: number): void => {
        const before = connections;
        setImmediate(() => {
          const lengthMs = knownMs ?? now() - begin;
          if (connections === before || acceptingLeft === 0) run(lengthMs);
          else wait(acceptingLeft - 1, lengthMs);
        });
      };
      wait(maxAccepting);
    },
  };
}
