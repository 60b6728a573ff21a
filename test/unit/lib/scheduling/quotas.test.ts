import { describe, expect, it } from 'vitest';
import {
  everyone,
  type Quotas,
  type ResourceBound,
} from '../../../../src/lib/scheduling/quotas.ts';
import { fc } from '../../../support/fast-check.ts';
import { openQuotas } from '../../../support/quotas.ts';

const quotasOf = (bound: ResourceBound): Quotas =>
  openQuotas({
    upstreamBytes: bound,
    upstreamReads: bound,
    histories: bound,
    sessions: bound,
    streams: bound,
  });

const ofAddress = (address: string) => ({ address, network: null });

/** Takes one unit at a time until it is refused. Returns the number of units. */
function takeAll(quotas: Quotas, address: string): number {
  let taken = 0;
  while (quotas.open('streams', ofAddress(address)).take(1)) taken += 1;
  return taken;
}

describe('the table of quotas', () => {
  it('refuses what exceeds the bound of an address', () => {
    const quotas = quotasOf({ perAddress: 3, total: 100 });

    expect(takeAll(quotas, '192.0.2.1')).toBe(3);
    expect(takeAll(quotas, '192.0.2.2')).toBe(3);
  });

  it('refuses an amount over the bound, and takes nothing', () => {
    const quotas = quotasOf({ perAddress: 10, total: 100 });
    const hold = quotas.open('upstreamBytes', ofAddress('192.0.2.1'));

    expect([hold.take(8), hold.take(3), hold.take(2)]).toEqual([true, false, true]);
    expect(quotas.usedBy('upstreamBytes', '192.0.2.1')).toBe(10);
  });

  it('lets one client use at most half of the total', () => {
    const quotas = quotasOf({ perAddress: 100, total: 100 });

    expect(takeAll(quotas, '192.0.2.1')).toBe(50);
  });

  it('leaves room for a new client while a few use as much as they may', () => {
    const quotas = quotasOf({ perAddress: 256, total: 768 });
    for (let host = 1; host <= 6; host += 1) takeAll(quotas, `192.0.2.${host}`);

    expect(quotas.open('streams', ofAddress('198.51.100.1')).take(1)).toBe(true);
  });

  it('counts the /64s of a /48 together as well', () => {
    const quotas = quotasOf({ perAddress: 2, total: 1000 });
    const take = (address: string) =>
      quotas.open('sessions', { address, network: '2001:db8:1/48' }).take(1);
    const taken = Array.from({ length: 20 }, (_, host) => take(`2001:db8:1:${host}`));

    expect(taken.filter(Boolean)).toHaveLength(8);
  });

  it('bounds the server’s own work only by the total', () => {
    const quotas = quotasOf({ perAddress: 1, total: 5 });
    const taken = Array.from({ length: 8 }, () => quotas.open('upstreamReads', null).take(1));

    expect(taken.filter(Boolean)).toHaveLength(5);
  });

  it.each([
    ['nothing', 4, null, {}],
    ['the bound of the address', 5, 'address', {}],
    ['the bound of the network', 4, 'network', { others: 14 }],
    ['the bound of all clients', 4, 'total', { strangers: 97 }],
    ['what would be left for others', 4, 'share', { own: 6, strangers: 85 }],
  ] as const)('names the bound that an amount would exceed: %s', (_what, amount, excess, held) => {
    const { own, others, strangers } = { own: 0, others: 0, strangers: 0, ...held };
    const quotas = quotasOf({ perAddress: own + 4, total: 100 });
    const client = { address: 'a:b:c:d', network: 'a:b:c/48' };
    const amounts = new Map([
      ['a:b:c:d', own],
      ['a:b:c/48', own + others],
      [everyone, own + others + strangers],
    ]);
    quotas.include('sessions', (name) => amounts.get(name) ?? 0);

    expect(quotas.findExcess('sessions', client, amount)).toBe(excess);
  });

  it('includes amounts that are counted outside', () => {
    const quotas = quotasOf({ perAddress: 5, total: 100 });
    const amounts = new Map([
      ['192.0.2.1', 3],
      [everyone, 3],
    ]);
    quotas.include('streams', (name) => amounts.get(name) ?? 0);

    expect(takeAll(quotas, '192.0.2.1')).toBe(2);
    expect(quotas.usedBy('streams', '192.0.2.1')).toBe(5);
    expect(quotas.totalOf('streams')).toBe(5);
    amounts.clear();
    expect(takeAll(quotas, '192.0.2.1')).toBe(3);
  });

  it('releases a reservation once', () => {
    const quotas = quotasOf({ perAddress: 10, total: 100 });
    const hold = quotas.open('histories', { address: 'a:b:c:d', network: 'a:b:c/48' });
    hold.take(4);
    const other = quotas.open('histories', { address: 'a:b:c:d', network: 'a:b:c/48' });
    other.take(1);

    hold.release();
    hold.release();

    expect(quotas.usedBy('histories', 'a:b:c:d')).toBe(1);
    expect(quotas.usedBy('histories', 'a:b:c/48')).toBe(1);
    expect(quotas.totalOf('histories')).toBe(1);
  });

  it('has a total equal to the open reservations after any order of operations', () => {
    const step = fc.record({
      client: fc.integer({ min: 0, max: 5 }).map(String),
      amount: fc.integer({ min: 1, max: 9 }),
      isRelease: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const quotas = quotasOf({ perAddress: 20, total: 60 });
        const open: Taken[] = [];
        for (const one of steps) {
          takeStep(quotas, open, one);
          const sum = open.reduce((all, { amount }) => all + amount, 0);
          expect(quotas.totalOf('streams')).toBe(sum);
          expect(sum).toBeLessThanOrEqual(60);
        }
        for (const { release } of open) release();
        expect(quotas.totalOf('streams')).toBe(0);
      }),
    );
  });
});

interface Taken {
  readonly amount: number;
  release(): void;
}

interface Step {
  readonly client: string;
  readonly amount: number;
  readonly isRelease: boolean;
}

function takeStep(quotas: Quotas, open: Taken[], { client, amount, isRelease }: Step): void {
  if (isRelease) open.shift()?.release();
  const hold = quotas.open('streams', ofAddress(client));
  if (hold.take(amount)) open.push({ amount, release: hold.release });
}
