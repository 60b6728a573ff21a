import { describe, expect, it } from 'vitest';
import type { Client } from '../../../../src/core/caller.ts';
import { createFairQueue, type QueuedTask } from '../../../../src/core/scheduling/fair-queue.ts';
import { fc } from '../../../support/fast-check.ts';

type Queue = ReturnType<typeof createFairQueue<QueuedTask>>;

const at = (address: string, network: string | null = null): Client => ({ address, network });

function waiting(order: number, client: Client | null): QueuedTask {
  return { key: `key ${order}`, client, order: String(order).padStart(6, '0') };
}

function takeAll(queue: Queue): readonly string[] {
  const taken: string[] = [];
  for (let task = queue.take(); task !== undefined; task = queue.take()) taken.push(task.key);
  return taken;
}

describe('createFairQueue', () => {
  it('alternates between addresses, each in the order of arrival', () => {
    const queue = createFairQueue();
    for (const order of [3, 1, 2]) queue.add(waiting(order, at('flood')));
    queue.add(waiting(4, at('stranger')));
    queue.add(waiting(5, null));

    expect(takeAll(queue)).toEqual(['key 1', 'key 4', 'key 5', 'key 2', 'key 3']);
  });

  it('gives a network with many addresses the share of one address', () => {
    const queue = createFairQueue();
    for (let host = 1; host <= 5; host += 1) queue.add(waiting(host, at(`host ${host}`, 'net')));
    for (const order of [6, 7]) queue.add(waiting(order, at('stranger')));

    expect(takeAll(queue).slice(0, 5)).toEqual(['key 1', 'key 6', 'key 2', 'key 7', 'key 3']);
  });

  it('holds a key once, and forgets removed keys', () => {
    const queue = createFairQueue();
    for (const order of [1, 1, 2, 3]) queue.add(waiting(order, at('here')));
    expect(queue.length).toBe(3);

    queue.remove('key 2');
    queue.remove('key 2');

    expect([queue.length, takeAll(queue), queue.length]).toEqual([2, ['key 1', 'key 3'], 0]);
  });

  it('matches a model that takes the client served longest ago', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const [queue, model] = [createFairQueue(), createModel()];
        for (const [order, one] of steps.entries()) takeStep({ queue, model }, one, order);
        expect(takeAll(queue)).toEqual(takeModel(model));
      }),
    );
  });
});

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('add'), who: fc.nat(8) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'take', who: 0 }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove'), who: fc.nat(30) }) },
);

interface Pair {
  readonly queue: Queue;
  readonly model: Model;
}

/** Applies a step to both, and expects the same results. */
function takeStep(
  { queue, model }: Pair,
  { kind, who }: { readonly kind: string; readonly who: number },
  order: number,
): void {
  if (kind === 'take') expect(queue.take()?.key).toBe(model.take());
  for (const one of [queue, model]) {
    if (kind === 'remove') one.remove(`key ${who}`);
    if (kind === 'add') one.add(waiting(order, clients[who] ?? null));
  }
}

/** Three addresses, two networks of two addresses each, and an unknown client. */
const clients: readonly (Client | null)[] = [
  at('a'),
  at('b'),
  at('c'),
  at('n1', 'n'),
  at('n2', 'n'),
  at('m1', 'm'),
  at('m2', 'm'),
  null,
];

type Model = Pick<Queue, 'add' | 'remove'> & { take(): string | undefined };

function takeModel(model: Model): readonly string[] {
  const taken: string[] = [];
  for (let key = model.take(); key !== undefined; key = model.take()) taken.push(key);
  return taken;
}

/** A model: a list that is searched for the network, then the address, that joined or was served longest ago. */
function createModel(): Model {
  let time = 0;
  let tasks: QueuedTask[] = [];
  const since = new Map<string, number>();
  const nameOf = ({ client }: QueuedTask) => `address ${client?.address ?? ''}`;
  const networkOf = ({ client }: QueuedTask) =>
    `network ${client?.network ?? client?.address ?? ''}`;
  const forgetAbsent = () => {
    const present = new Set(tasks.flatMap((one) => [nameOf(one), networkOf(one)]));
    for (const name of since.keys()) if (!present.has(name)) since.delete(name);
  };
  const first = (of: readonly QueuedTask[], by: (one: QueuedTask) => string) => {
    const [oldest] = of.map(by).sort((a, b) => (since.get(a) ?? 0) - (since.get(b) ?? 0));
    return of.filter((one) => by(one) === oldest);
  };
  const note = (names: readonly string[]) => {
    time += 1;
    for (const name of names) since.set(name, time);
  };
  return {
    add: (one) => {
      tasks.push(one);
      note([nameOf(one), networkOf(one)].filter((name) => !since.has(name)));
    },
    remove: (key) => {
      tasks = tasks.filter((one) => one.key !== key);
      forgetAbsent();
    },
    take: () => {
      const mine = first(first(tasks, networkOf), nameOf);
      const next = mine.toSorted((a, b) => a.order.localeCompare(b.order))[0];
      if (next === undefined) return undefined;
      tasks = tasks.filter((one) => one !== next);
      note([nameOf(next), networkOf(next)]);
      forgetAbsent();
      return next.key;
    },
  };
}
