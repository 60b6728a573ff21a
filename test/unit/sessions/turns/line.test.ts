import { describe, expect, it } from 'vitest';
import type { Client } from '../../../../src/core/caller.ts';
import { createLine, type Waiting } from '../../../../src/sessions/turns/line.ts';
import { fc } from '../../../support/fast-check.ts';

type Line = ReturnType<typeof createLine<Waiting>>;

const at = (address: string, network: string | null = null): Client => ({ address, network });

function waiting(order: number, client: Client | null): Waiting {
  return { key: `key ${order}`, client, order: String(order).padStart(6, '0') };
}

function takeAll(line: Line): readonly string[] {
  const taken: string[] = [];
  for (let work = line.take(); work !== undefined; work = line.take()) taken.push(work.key);
  return taken;
}

describe('the line', () => {
  it('lets addresses take turns, each in the order of arrival', () => {
    const line = createLine();
    for (const order of [3, 1, 2]) line.join(waiting(order, at('flood')));
    line.join(waiting(4, at('stranger')));
    line.join(waiting(5, null));

    expect(takeAll(line)).toEqual(['key 1', 'key 4', 'key 5', 'key 2', 'key 3']);
  });

  it('gives a network of many addresses no more than an address', () => {
    const line = createLine();
    for (let host = 1; host <= 5; host += 1) line.join(waiting(host, at(`host ${host}`, 'net')));
    for (const order of [6, 7]) line.join(waiting(order, at('stranger')));

    expect(takeAll(line).slice(0, 5)).toEqual(['key 1', 'key 6', 'key 2', 'key 7', 'key 3']);
  });

  it('holds a key once, and forgets what leaves', () => {
    const line = createLine();
    for (const order of [1, 1, 2, 3]) line.join(waiting(order, at('here')));
    expect(line.length).toBe(3);

    line.leave('key 2');
    line.leave('key 2');

    expect([line.length, takeAll(line), line.length]).toEqual([2, ['key 1', 'key 3'], 0]);
  });

  it('takes what a model takes: whoever was not served for longest', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const [line, model] = [createLine(), createModel()];
        for (const [order, one] of steps.entries()) takeStep({ line, model }, one, order);
        expect(takeAll(line)).toEqual(takeModel(model));
      }),
    );
  });
});

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('join'), who: fc.nat(8) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'take', who: 0 }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave'), who: fc.nat(30) }) },
);

interface Pair {
  readonly line: Line;
  readonly model: Model;
}

/** Does the same to both, and expects the same of them. */
function takeStep(
  { line, model }: Pair,
  { kind, who }: { readonly kind: string; readonly who: number },
  order: number,
): void {
  if (kind === 'take') expect(line.take()?.key).toBe(model.take());
  for (const one of [line, model]) {
    if (kind === 'leave') one.leave(`key ${who}`);
    if (kind === 'join') one.join(waiting(order, clients[who] ?? null));
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

type Model = Pick<Line, 'join' | 'leave'> & { take(): string | undefined };

function takeModel(model: Model): readonly string[] {
  const taken: string[] = [];
  for (let key = model.take(); key !== undefined; key = model.take()) taken.push(key);
  return taken;
}

/** A list that is looked through: the network, then the address that joined or was served longest ago. */
function createModel(): Model {
  let time = 0;
  let work: Waiting[] = [];
  const since = new Map<string, number>();
  const nameOf = ({ client }: Waiting) => `address ${client?.address ?? ''}`;
  const networkOf = ({ client }: Waiting) => `network ${client?.network ?? client?.address ?? ''}`;
  const forgetAbsent = () => {
    const present = new Set(work.flatMap((one) => [nameOf(one), networkOf(one)]));
    for (const name of since.keys()) if (!present.has(name)) since.delete(name);
  };
  const first = (of: readonly Waiting[], by: (one: Waiting) => string) => {
    const [oldest] = of.map(by).sort((a, b) => (since.get(a) ?? 0) - (since.get(b) ?? 0));
    return of.filter((one) => by(one) === oldest);
  };
  const note = (names: readonly string[]) => {
    time += 1;
    for (const name of names) since.set(name, time);
  };
  return {
    join: (one) => {
      work.push(one);
      note([nameOf(one), networkOf(one)].filter((name) => !since.has(name)));
    },
    leave: (key) => {
      work = work.filter((one) => one.key !== key);
      forgetAbsent();
    },
    take: () => {
      const mine = first(first(work, networkOf), nameOf);
      const next = mine.toSorted((a, b) => a.order.localeCompare(b.order))[0];
      if (next === undefined) return undefined;
      work = work.filter((one) => one !== next);
      note([nameOf(next), networkOf(next)]);
      forgetAbsent();
      return next.key;
    },
  };
}
