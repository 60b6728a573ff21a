import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { Spent } from '../../../../src/access/allowances/allowance-store.ts';
import { AllowanceWindow } from '../../../../src/access/allowances/allowance-window.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const windowMs = 60_000;

function open(maxAccounts = 100_000) {
  const clock = createManualClock();
  return { clock, store: new AllowanceWindow({ windowMs, clock, maxAccounts }) };
}

/** Spends a unit. Fails if there is none. */
async function spendOne(store: AllowanceWindow, account: string, limit = 1_000_000) {
  const spent = await store.spend([{ account, limit }]);
  if (!spent.ok) throw new Error(`${account} has nothing to spend for ${spent.waitMs} ms`);
  return spent;
}

/** Formats the result of a spend: `ok`, or the account and the wait. */
function format(spent: Spent): string {
  return spent.ok ? 'ok' : `${spent.account} waits ${spent.waitMs}`;
}

describe('an allowance', () => {
  it('refuses when it is used up, and has a unit again exactly one window later', async () => {
    const { clock, store } = open();
    const charge = [{ account: 'a', limit: 2 }];
    await store.spend(charge);
    await clock.advance(1000);
    await store.spend(charge);
    await clock.advance(500);

    const refused = await store.spend(charge);
    await clock.advance(windowMs - 1500 - 1);
    const early = await store.spend(charge);
    await clock.advance(1);
    const onTime = await store.spend(charge);
    const again = await store.spend(charge);

    expect([refused, early, onTime, again].map(format)).toEqual([
      `a waits ${windowMs - 1500}`,
      'a waits 1',
      'ok',
      'a waits 1000',
    ]);
  });

  it('reports the spent units and when the oldest one expires', async () => {
    const { clock, store } = open();

    const states = [store.stateOf('a')];
    await spendOne(store, 'a');
    await clock.advance(10);
    await spendOne(store, 'a');
    states.push(store.stateOf('a'), store.stateOf('b'));
    await clock.advance(windowMs - 10);
    states.push(store.stateOf('a'));
    await clock.advance(10);
    states.push(store.stateOf('a'));

    expect(states).toEqual([
      { spent: 0, nextMs: 0 },
      { spent: 2, nextMs: windowMs - 10 },
      { spent: 0, nextMs: 0 },
      { spent: 1, nextMs: 10 },
      { spent: 0, nextMs: 0 },
    ]);
  });

  it('is exact for many units that expire at the same time', async () => {
    const { clock, store } = open();
    const accounts = Array.from({ length: 3000 }, (_, index) => `key ${index}`);
    for (const account of accounts) await spendOne(store, account);
    await clock.advance(1);
    await spendOne(store, 'key 2999');
    await clock.advance(windowMs - 1);

    const last = ['key 2999', 'key 2998'].map((account) => store.stateOf(account));
    const spent = await store.spend([{ account: 'key 2997', limit: 1 }]);

    expect(last).toEqual([
      { spent: 1, nextMs: 1 },
      { spent: 0, nextMs: 0 },
    ]);
    expect(format(spent)).toBe('ok');
  });

  it('waits for several units if its limit was lowered', async () => {
    const { clock, store } = open();
    for (let index = 0; index < 10; index++) {
      await spendOne(store, 'a');
      await clock.advance(100);
    }

    const waits = await Promise.all(
      [10, 9, 4, 1].map((limit) => store.spend([{ account: 'a', limit }])),
    );

    expect(waits.map(format)).toEqual([
      `a waits ${windowMs - 1000}`,
      `a waits ${windowMs - 900}`,
      `a waits ${windowMs - 400}`,
      `a waits ${windowMs - 100}`,
    ]);
  });

  it('never lets concurrent calls spend the same unit', async () => {
    const { store } = open();

    const spent = await Promise.all(
      Array.from({ length: 100 }, () => store.spend([{ account: 'a', limit: 7 }])),
    );

    expect(spent.filter(({ ok }) => ok)).toHaveLength(7);
    expect(store.stateOf('a').spent).toBe(7);
  });
});

describe('a spend from several accounts', () => {
  it('takes one unit of each account or none, and names the account that recovers last', async () => {
    const { clock, store } = open();
    await spendOne(store, 'b');
    await clock.advance(10);
    await spendOne(store, 'c');
    const charges = ['a', 'b', 'c', 'd'].map((account) => ({ account, limit: 1 }));

    const refused = await store.spend(charges);
    const states = ['a', 'b', 'c', 'd'].map((account) => store.stateOf(account).spent);
    await clock.advance(windowMs - 1);
    const early = await store.spend(charges);
    await clock.advance(1);
    const onTime = await store.spend(charges);

    expect([refused, early, onTime].map(format)).toEqual([
      `c waits ${windowMs}`,
      'c waits 1',
      'ok',
    ]);
    expect(states).toEqual([0, 1, 1, 0]);
    expect(charges.map(({ account }) => store.stateOf(account).spent)).toEqual([1, 1, 1, 1]);
  });
});

describe('a refunded unit', () => {
  it('is available immediately, and only once', async () => {
    const { store } = open();
    const first = await spendOne(store, 'a', 3);
    await spendOne(store, 'a', 3);
    await spendOne(store, 'a', 3);

    first.refund();
    first.refund();

    expect(store.stateOf('a').spent).toBe(2);
    await spendOne(store, 'a', 3);
    first.refund();
    expect(format(await store.spend([{ account: 'a', limit: 3 }]))).toBe(`a waits ${windowMs}`);
  });

  it('keeps the order of the other units', async () => {
    const { clock, store } = open();
    const spent = [];
    for (let index = 0; index < 4; index++) {
      spent.push(await spendOne(store, 'a'));
      await clock.advance(100);
    }

    spent[1]?.refund();
    const states = [store.stateOf('a')];
    spent[0]?.refund();
    states.push(store.stateOf('a'));
    spent[3]?.refund();
    states.push(store.stateOf('a'));
    spent[2]?.refund();
    states.push(store.stateOf('a'));

    expect(states).toEqual([
      { spent: 3, nextMs: windowMs - 400 },
      { spent: 2, nextMs: windowMs - 200 },
      { spent: 1, nextMs: windowMs - 200 },
      { spent: 0, nextMs: 0 },
    ]);
  });

  it('has no effect after it has expired', async () => {
    const { clock, store } = open();
    const late = await store.spend(['a', 'b'].map((account) => ({ account, limit: 1 })));
    await clock.advance(windowMs);
    await spendOne(store, 'a', 1);
    await spendOne(store, 'c', 1);

    if (late.ok) late.refund();

    expect(['a', 'b', 'c'].map((account) => store.stateOf(account).spent)).toEqual([1, 0, 1]);
  });

  it('is removed by its time among many units', async () => {
    const { clock, store } = open();
    const spent = [];
    for (let index = 0; index < 3000; index++) {
      await clock.advance(Number(index % 10 === 0));
      spent.push(await spendOne(store, 'a'));
    }
    const kept = spent.splice(2000, 50);

    for (const unit of spent) unit.refund();
    const few = store.stateOf('a');
    for (const unit of kept) unit.refund();

    expect(few).toEqual({ spent: 50, nextMs: windowMs - 99 });
    expect(store.stateOf('a')).toEqual({ spent: 0, nextMs: 0 });
  });

  it('leaves no trace after any number of refunds', async () => {
    const { store } = open(2);
    await spendOne(store, 'before');

    for (let index = 0; index < 50_000; index++) (await spendOne(store, `${index}`, 1)).refund();

    expect(store.stateOf('before').spent).toBe(1);
    expect(store.stateOf('49999').spent).toBe(0);
  });

  it('does not affect an account that was evicted and created again', async () => {
    const { store } = open(1);
    const forgotten = await spendOne(store, 'a');
    await spendOne(store, 'b');
    await spendOne(store, 'a');

    forgotten.refund();

    expect(store.stateOf('a').spent).toBe(1);
  });
});

describe('the clock', () => {
  it('can be set back without units expiring early', async () => {
    const wall = { ms: 1_000_000_000 };
    const clock = { ...createManualClock(), now: () => wall.ms };
    const store = new AllowanceWindow({ windowMs, clock });
    const charge = [{ account: 'a', limit: 1 }];
    await store.spend(charge);

    wall.ms += 1000;
    const before = await store.spend(charge);
    wall.ms -= 3_600_000;
    const after = await store.spend(charge);
    wall.ms += windowMs - 1001;
    const early = await store.spend(charge);
    wall.ms += 1;
    const onTime = await store.spend(charge);

    expect([before, after, early, onTime].map(format)).toEqual([
      `a waits ${windowMs - 1000}`,
      `a waits ${windowMs - 1000}`,
      'a waits 1',
      'ok',
    ]);
  });
});

describe('more accounts than the maximum', () => {
  it('evict the account that spent least recently', async () => {
    const { clock, store } = open(3);
    for (const account of ['a', 'b', 'c', 'a']) {
      await spendOne(store, account);
      await clock.advance(100);
    }
    const refused = await store.spend([{ account: 'b', limit: 1 }]);

    await spendOne(store, 'd');

    expect(format(refused)).toBe(`b waits ${windowMs - 300}`);
    expect(['a', 'b', 'c', 'd'].map((account) => store.stateOf(account).spent)).toEqual([
      2, 0, 1, 1,
    ]);
  });

  it('are not evicted by reading states or by refusals', async () => {
    const { store } = open(2);
    await spendOne(store, 'a');
    await spendOne(store, 'b');

    store.stateOf('c');
    await store.spend(['a', 'c'].map((account) => ({ account, limit: 1 })));

    expect(['a', 'b', 'c'].map((account) => store.stateOf(account).spent)).toEqual([1, 1, 0]);
  });

  it('are fewer if they would take more than 64 MiB', async () => {
    const { store } = open(150_000);
    for (let index = 0; index < 150_000; index++) await spendOne(store, addressAt(index));

    const known = Array.from({ length: 150_000 }, (_, index) => index).filter(
      (index) => store.stateOf(addressAt(index)).spent === 1,
    );

    expect(known.length).toBeGreaterThan(100_000);
    expect(known.length).toBeLessThan((64 * 2 ** 20) / 450);
    expect(known[0]).toBe(150_000 - known.length);
  });
});

describe('an account with a limit above a million units', () => {
  it('has at most 1,048,576 units, so that it is never too large for the store', async () => {
    const { store } = open();
    const charge = [{ account: 'a', limit: 8_000_000 }];
    for (let unit = 0; unit < 2 ** 20; unit++) void store.spend(charge);

    const { spent } = store.stateOf('a');

    expect(spent).toBe(2 ** 20);
    expect(format(await store.spend(charge))).toBe(`a waits ${windowMs}`);
  });
});

describe('a flood of 100,000 addresses', () => {
  it('is counted exactly, in less than 64 MiB, and leaks no memory', async () => {
    const { clock, store } = open();
    const before = heapBytes();

    const first = await flood(store, 1);
    const flooded = heapBytes() - before;
    await clock.advance(windowMs - 1);
    const second = await flood(store, 7);
    await clock.advance(1);
    for (let call = 0; call < 1000; call++) store.stateOf('somebody');

    expect([first, second]).toEqual([100_000, 0]);
    expect(flooded).toBeLessThan(64 * 2 ** 20);
    expect(heapBytes() - before).toBeLessThan(8 * 2 ** 20);
    expect(store.stateOf(addressAt(0))).toEqual({ spent: 0, nextMs: 0 });
  });

  it('does not affect the units of regular callers', async () => {
    const { clock, store } = open();
    const regulars = Array.from({ length: 100 }, (_, index) => `key ${index}`);
    for (let index = 0; index < 99_000; index++) {
      await spendOne(store, regulars[index % 4000] ?? addressAt(index));
    }
    await clock.advance(windowMs / 2);
    for (const account of regulars) await spendOne(store, account);

    await clock.advance(windowMs / 2);

    expect(regulars.map((account) => store.stateOf(account))).toEqual(
      regulars.map(() => ({ spent: 1, nextMs: windowMs / 2 })),
    );
  });
});

/** Spends a unit of every address, or of every seventh, if it has one. Returns the number spent. */
async function flood(store: AllowanceWindow, step: number): Promise<number> {
  let allowed = 0;
  for (let index = 0; index < 100_000; index += step) {
    const { ok } = await store.spend([{ account: addressAt(index), limit: 1 }]);
    allowed += Number(ok);
  }
  return allowed;
}

/** Returns the size of the heap in bytes after a garbage collection. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

/** Returns the given number of addresses, of both families. */
function addressAt(index: number): string {
  return index % 2 === 0
    ? `public 10.${index >>> 16}.${(index >>> 8) & 255}.${index & 255}`
    : `public 2001:db8:${(index >>> 8).toString(16)}:${(index & 255).toString(16)}`;
}
