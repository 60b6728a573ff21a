import { describe, expect, it } from 'vitest';
import type { Client } from '../../../../src/lib/caller.ts';
import {
  createFairQueue,
  createHeavyTurns,
  createRotation,
  createServerLoop,
} from '../../../../src/lib/scheduling/fair-queue.ts';
import { fc } from '../../../support/fast-check.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { untilIdle } from '../../../support/session-rig.ts';

interface QueuedTask {
  readonly key: string;
  readonly client: Client | null;
  readonly order: string;
}

type Queue = ReturnType<typeof createRotation<QueuedTask>>;

const at = (address: string, network: string | null = null): Client => ({ address, network });

function waiting(order: number, client: Client | null): QueuedTask {
  return { key: `key ${order}`, client, order: String(order).padStart(6, '0') };
}

function takeAll(queue: Queue): readonly string[] {
  const taken: string[] = [];
  for (let task = queue.take(); task !== undefined; task = queue.take()) taken.push(task.key);
  return taken;
}

describe('the rotation of a fair queue', () => {
  it('alternates between addresses, each in the order of arrival', () => {
    const queue: Queue = createRotation();
    for (const order of [3, 1, 2]) queue.add(waiting(order, at('flood')));
    queue.add(waiting(4, at('stranger')));
    queue.add(waiting(5, null));

    expect(takeAll(queue)).toEqual(['key 1', 'key 4', 'key 5', 'key 2', 'key 3']);
  });

  it('gives a network with many addresses the share of one address', () => {
    const queue: Queue = createRotation();
    for (let host = 1; host <= 5; host += 1) queue.add(waiting(host, at(`host ${host}`, 'net')));
    for (const order of [6, 7]) queue.add(waiting(order, at('stranger')));

    expect(takeAll(queue).slice(0, 5)).toEqual(['key 1', 'key 6', 'key 2', 'key 7', 'key 3']);
  });

  it('holds a key once, and forgets removed keys', () => {
    const queue: Queue = createRotation();
    for (const order of [1, 1, 2, 3]) queue.add(waiting(order, at('here')));
    expect(queue.length).toBe(3);

    queue.remove('key 2');
    queue.remove('key 2');

    expect([queue.length, takeAll(queue), queue.length]).toEqual([2, ['key 1', 'key 3'], 0]);
  });

  it('matches a model that takes the client served longest ago', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const [queue, model] = [createRotation<QueuedTask>(), createModel()];
        for (const [order, one] of steps.entries()) takeStep({ queue, model }, one, order);
        expect(takeAll(queue)).toEqual(takeModel(model));
      }),
    );
  });
});

function openRig(atOnce = 1, atOnceOfAddress?: number) {
  const clock = createManualClock();
  const state = { isReady: true };
  const queue = createFairQueue({
    atOnce,
    ...(atOnceOfAddress === undefined ? {} : { atOnceOfAddress }),
    clock,
    isReady: () => state.isReady,
  });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (key: string, signal = new AbortController().signal, address?: string) =>
    queue.run({
      client: address === undefined ? null : { address, network: null },
      signal,
      toDropped: () => new Error('closed'),
      run: () => {
        begun.push(key);
        return new Promise<string>((resolve) => ends.set(key, () => resolve(`end of ${key}`)));
      },
    });
  const end = async (key: string) => {
    ends.get(key)?.();
    await untilIdle();
  };
  return { clock, state, queue, begun, run, end };
}

describe('a fair queue', () => {
  it('starts tasks as slots become free, and passes on their results', async () => {
    const { queue, begun, run, end } = openRig(2);
    const runs = ['1', '2', '3'].map((key) => run(key));
    expect([begun, queue.waiting]).toEqual([['1', '2'], 1]);

    await end('2');
    expect(begun).toEqual(['1', '2', '3']);
    for (const key of ['1', '3']) await end(key);

    expect(await Promise.all(runs)).toEqual(['end of 1', 'end of 2', 'end of 3']);
  });

  it('limits the running tasks of an address, and starts those of others', async () => {
    const { begun, run, end, queue } = openRig(2, 1);
    const { signal } = new AbortController();
    const runs = ['a1', 'a2', 'b1', 'b2'].map((key) => run(key, signal, key.slice(0, 1)));
    expect([begun, queue.waiting]).toEqual([['a1', 'b1'], 2]);

    await end('b1');
    expect(begun).toEqual(['a1', 'b1', 'b2']);
    for (const key of ['a1', 'a2', 'b2']) await end(key);
    await Promise.all(runs);
    expect(begun).toEqual(['a1', 'b1', 'b2', 'a2']);
  });

  it('continues after a task that fails', async () => {
    const { queue, run, end, begun } = openRig();
    const failing = queue.run({
      client: null,
      signal: new AbortController().signal,
      toDropped: () => new Error('closed'),
      run: () => Promise.reject(new Error('it failed')),
    });
    const next = run('1');

    await expect(failing).rejects.toThrow('it failed');
    await untilIdle();
    expect(begun).toEqual(['1']);
    await end('1');
    expect(await next).toBe('end of 1');
  });

  it('removes a task from the queue when its signal is aborted', async () => {
    const { queue, run, end, begun } = openRig();
    const first = run('1');
    const leaving = new AbortController();
    const left = run('2', leaving.signal);
    leaving.abort(new Error('left'));

    await expect(left).rejects.toThrow('left');
    await expect(run('3', leaving.signal)).rejects.toThrow('left');
    expect(queue.waiting).toBe(0);
    await end('1');
    expect([await first, begun]).toEqual(['end of 1', ['1']]);
  });

  it('waits until tasks can start', async () => {
    const { clock, state, run, end, begun } = openRig();
    state.isReady = false;
    const first = run('1');
    await clock.advance(250);
    expect(begun).toEqual([]);

    state.isReady = true;
    await clock.advance(250);

    expect(begun).toEqual(['1']);
    await end('1');
    expect(await first).toBe('end of 1');
  });

  it('drops queued tasks when it is closed, and lets running ones finish', async () => {
    const { queue, run, end, begun } = openRig();
    const [first, second] = [run('1'), run('2')];

    queue.close();

    await expect(second).rejects.toThrow('closed');
    await end('1');
    expect([await first, begun]).toEqual(['end of 1', ['1']]);
  });
});

describe('the turns for heavy work', () => {
  it('alternate between clients', async () => {
    const turns = createHeavyTurns(createServerLoop());
    const taken: string[] = [];
    const take = async (address: string, name: string) => {
      await turns.take(at(address));
      taken.push(name);
    };

    await Promise.all([
      ...['a1', 'a2', 'a3'].map((name) => take('a', name)),
      ...['b1', 'b2'].map((name) => take('b', name)),
    ]);

    expect(taken).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
  });

  it('leave passes of the event loop to others that are busy', async () => {
    const turns = createHeavyTurns(createServerLoop());
    const isOver = new AbortController();
    let passes = 0;
    const count = () => {
      passes += 1;
      if (!isOver.signal.aborted) setImmediate(count);
    };

    await turns.take(null);
    const begin = performance.now();
    while (performance.now() < begin + 50); // busy
    count();
    await turns.take(null);
    isOver.abort();

    expect(passes).toBeGreaterThan(3);
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

interface Model extends Pick<Queue, 'remove'> {
  add(task: QueuedTask): void;
  take(): string | undefined;
}

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
