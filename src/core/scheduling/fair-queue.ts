import type { Client } from '../caller.ts';

export interface QueuedTask {
  readonly key: string;
  /** Client that the task belongs to; `null` if unknown. */
  readonly client: Client | null;
  /** Sort key for the arrival order, in which tasks of the same client address are taken. */
  readonly order: string;
}

/** Creates a queue that takes turns between networks (IPv4, IPv6 /48, or all unknown clients). */
export function createFairQueue<Task extends QueuedTask>() {
  const networks = new Map<string, Map<string, Task[]>>();
  const queued = new Map<string, QueuedTask>();
  const tasksOf = (client: Client | null) => {
    const address = client?.address ?? '';
    const network = client?.network ?? address;
    const addresses = networks.get(network) ?? new Map<string, Task[]>();
    return { network, addresses, address, tasks: addresses.get(address) ?? [] };
  };
  return {
    get length() {
      return queued.size;
    },
    /** Adds a task. Does nothing if a task with the same key is already queued. */
    add: (task: Task): void => {
      if (queued.has(task.key)) return;
      queued.set(task.key, task);
      const { network, addresses, address, tasks } = tasksOf(task.client);
      tasks.splice(tasks.findLastIndex(({ order }) => order < task.order) + 1, 0, task);
      addresses.set(address, tasks);
      networks.set(network, addresses);
    },
    /** Returns the next task that `mayRun` accepts, by turns of networks and their addresses. */
    take: (mayRun: (address: string) => boolean = () => true): Task | undefined => {
      for (const network of networks) {
        const next = [...network[1]].find(([address]) => mayRun(address));
        if (next === undefined) continue;
        const task = next[1].shift();
        moveToEnd(network[1], next, next[1].length);
        moveToEnd(networks, network, network[1].size);
        if (task !== undefined) queued.delete(task.key);
        return task;
      }
      return undefined;
    },
    remove: (key: string): void => {
      const task = queued.get(key);
      if (task === undefined) return;
      queued.delete(key);
      const { network, addresses, address, tasks } = tasksOf(task.client);
      const at = tasks.findIndex((one) => one.key === key);
      tasks.splice(at, 1);
      if (tasks.length === 0) addresses.delete(address);
      if (addresses.size === 0) networks.delete(network);
    },
  };
}

function moveToEnd<Value>(map: Map<string, Value>, [name, value]: [string, Value], left: number) {
  map.delete(name);
  if (left > 0) map.set(name, value);
}
