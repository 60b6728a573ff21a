import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  createRateLimiter,
  type RateLimiter,
  type Spent,
} from '../../../src/access/rate-limits.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const windowMs = 60_000;

function open(maxSize = 100_000) {
  const clock = createManualClock();
  return { clock, limiter: createRateLimiter({ clock, maxSize }) };
}

const toCharge = (account: string, limit = 1_000_000) => ({ account, limit, windowMs });

const spentBy = (limiter: RateLimiter, account: string) => limiter.stateOf(toCharge(account)).spent;

/** Spends a unit. Fails if there is none. */
async function spendOne(limiter: RateLimiter, account: string, limit?: number) {
  const spent = await limiter.spend([toCharge(account, limit)]);
  if (!spent.ok) throw new Error(`${account} has nothing to spend for ${spent.waitMs} ms`);
  return spent;
}

/** Formats the result of a spend: `ok`, or the account and the wait. */
const format = (spent: Spent): string =>
  spent.ok ? 'ok' : `${spent.charge.account} waits ${spent.waitMs}`;

describe('a rate limit', () => {
  it('refuses exactly until the window that began with the first unit ends', async () => {
    const { clock, limiter } = open();
    const spend = () => limiter.spend([toCharge('a', 2)]);
    await spend();
    await clock.advance(1000);
    await spend();
    await clock.advance(500);

    const refused = await spend();
    await clock.advance(windowMs - 1500 - 1);
    const early = await spend();
    await clock.advance(1);
    const next = [await spend(), await spend(), await spend()];

    expect([refused, early, ...next].map(format)).toEqual([
      `a waits ${windowMs - 1500}`,
      'a waits 1',
      'ok',
      'ok',
      `a waits ${windowMs}`,
    ]);
  });

  it('reports the spent units and the end of the window', async () => {
    const { clock, limiter } = open();
    const stateOf = () => limiter.stateOf(toCharge('a'));

    const states = [stateOf()];
    await spendOne(limiter, 'a');
    await clock.advance(10);
    await spendOne(limiter, 'a');
    states.push(stateOf());
    await clock.advance(windowMs - 10);
    states.push(stateOf());

    expect(states).toEqual([
      { spent: 0, resetMs: windowMs },
      { spent: 2, resetMs: windowMs - 10 },
      { spent: 0, resetMs: windowMs },
    ]);
  });

  it('never lets concurrent calls spend the same unit', async () => {
    const { limiter } = open();

    const spent = await Promise.all(
      Array.from({ length: 100 }, () => limiter.spend([toCharge('a', 7)])),
    );

    expect(spent.filter(({ ok }) => ok)).toHaveLength(7);
    expect(spentBy(limiter, 'a')).toBe(7);
  });

  it('takes one unit of each account or none, and names the account that waits longest', async () => {
    const { clock, limiter } = open();
    const names = ['a', 'b', 'c', 'd'];
    await spendOne(limiter, 'b');
    await clock.advance(10);
    await spendOne(limiter, 'c');
    const spend = () => limiter.spend(names.map((name) => toCharge(name, 1)));

    const refused = await spend();
    const counts = names.map((name) => spentBy(limiter, name));
    await clock.advance(windowMs - 1);
    const early = await spend();
    await clock.advance(1);
    const onTime = await spend();

    expect([refused, early, onTime].map(format)).toEqual([
      `c waits ${windowMs}`,
      'c waits 1',
      'ok',
    ]);
    expect(counts).toEqual([0, 1, 1, 0]);
    expect(names.map((name) => spentBy(limiter, name))).toEqual([1, 1, 1, 1]);
  });

  it('lets no account wait longer if the clock is set back', async () => {
    const wall = { ms: 1_000_000_000 };
    const limiter = createRateLimiter({ clock: { now: () => wall.ms } });
    const spend = () => limiter.spend([toCharge('a', 1)]);
    await spend();

    wall.ms += 1000;
    const before = await spend();
    wall.ms -= 3_600_000;
    const after = await spend();
    wall.ms += windowMs - 1001;
    const early = await spend();
    wall.ms += 1;
    const onTime = await spend();

    expect([before, after, early, onTime].map(format)).toEqual([
      `a waits ${windowMs - 1000}`,
      `a waits ${windowMs - 1000}`,
      'a waits 1',
      'ok',
    ]);
  });

  it.each([1, 7, 60, 600, 1333, 1_000_000])(
    'of %i a minute in bursts returns one unit at a time, and no more in a minute',
    async (perMinute) => {
      const { clock, limiter } = open();
      const charge = { account: 'a', limit: 5, windowMs: 60_000 / perMinute, regained: 1 };
      const spendAll = async () => {
        let spent = 0;
        while (spent < 100 && (await limiter.spend([charge])).ok) spent += 1;
        return spent;
      };
      const burst = await spendAll();
      const steps = Math.min(perMinute, 60);
      let later = 0;
      for (let step = 0; step < steps; step += 1) {
        await clock.advance(windowMs / steps);
        later += await spendAll();
      }

      expect(burst).toBe(5);
      expect(later).toBe(Math.min(perMinute, steps * 5));
    },
  );
});

describe('a refunded unit', () => {
  it('does not affect an account that was forgotten and created again', async () => {
    const { limiter } = open(1);
    const forgotten = await spendOne(limiter, 'a');
    await spendOne(limiter, 'b');
    await spendOne(limiter, 'a');

    forgotten.refund();

    expect(spentBy(limiter, 'a')).toBe(1);
  });

  it('does not count in a later window', async () => {
    const { clock, limiter } = open();
    const late = await limiter.spend(['a', 'b'].map((name) => toCharge(name, 1)));
    await clock.advance(windowMs);
    await spendOne(limiter, 'a');

    if (late.ok) late.refund();

    expect(['a', 'b'].map((name) => spentBy(limiter, name))).toEqual([1, 0]);
  });
});

describe('more accounts than the maximum', () => {
  it('make the limiter forget the account that spent least recently', async () => {
    const { limiter } = open(3);
    for (const name of ['a', 'b', 'c', 'a']) await spendOne(limiter, name);
    const refused = await limiter.spend([toCharge('b', 1)]);

    await spendOne(limiter, 'd');

    expect(refused.ok).toBe(false);
    expect(['a', 'b', 'c', 'd'].map((name) => spentBy(limiter, name))).toEqual([2, 0, 1, 1]);
  });

  it('are not counted for reads of states or for refusals', async () => {
    const { limiter } = open(2);
    for (const name of ['a', 'b']) await spendOne(limiter, name);

    spentBy(limiter, 'c');
    await limiter.spend(['a', 'c'].map((name) => toCharge(name, 1)));

    expect(['a', 'b', 'c'].map((name) => spentBy(limiter, name))).toEqual([1, 1, 0]);
  });

  it('are 100,001, which take less than 64 MiB', async () => {
    const { limiter } = open();
    const before = heapBytes();

    for (let index = 0; index <= 100_000; index += 1) await spendOne(limiter, addressAt(index), 1);
    const flooded = heapBytes() - before;
    const counts = [0, 1, 100_000].map((index) => spentBy(limiter, addressAt(index)));

    expect(counts).toEqual([0, 1, 1]);
    expect(flooded).toBeLessThan(64 * 2 ** 20);
  });
});

/** Returns the size of the heap in bytes after a garbage collection. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

function addressAt(index: number): string {
  return index % 2 === 0
    ? `public 10.${index >>> 16}.${(index >>> 8) & 255}.${index & 255}`
    : `public 2001:db8:${(index >>> 8).toString(16)}:${(index & 255).toString(16)}`;
}
