import { describe, expect, it } from 'vitest';
import type { Spent } from '../../../src/access/allowance-store.ts';
import {
  type AllowanceWindow,
  createAllowanceWindow,
} from '../../../src/access/allowance-window.ts';
import { systemRandom } from '../../../src/core/random.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const windowMs = 60_000;
const mebibyte = 2 ** 20;

function open(maxUnits?: number) {
  const clock = createManualClock();
  const options = { windowMs, clock, random: systemRandom };
  return {
    clock,
    store: createAllowanceWindow(maxUnits === undefined ? options : { ...options, maxUnits }),
  };
}

/** Spends a unit that must be there. */
async function spendOne(store: AllowanceWindow, account: string, limit = 1_000_000) {
  const spent = await store.spend([{ account, limit }]);
  if (!spent.ok) throw new Error(`${account} has nothing to spend for ${spent.waitMs} ms`);
  return spent;
}

/** Tells what came of a spend: `ok`, or who waits and how long. */
function tell(spent: Spent): string {
  return spent.ok ? 'ok' : `${spent.account} waits ${spent.waitMs}`;
}

describe('an allowance', () => {
  it('is refused when it is used up, and a unit is back exactly a window later', async () => {
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

    expect([refused, early, onTime, again].map(tell)).toEqual([
      `a waits ${windowMs - 1500}`,
      'a waits 1',
      'ok',
      'a waits 1000',
    ]);
  });

  it('tells what is spent and when the oldest unit comes back', async () => {
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

  it('is exact for each of many whose units come back at once', async () => {
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
    expect(tell(spent)).toBe('ok');
    expect(store.units).toBe(2);
  });

  it('waits for several units where its limit was lowered', async () => {
    const { clock, store } = open();
    for (let index = 0; index < 10; index++) {
      await spendOne(store, 'a');
      await clock.advance(100);
    }

    const waits = await Promise.all(
      [10, 9, 4, 1].map((limit) => store.spend([{ account: 'a', limit }])),
    );

    expect(waits.map(tell)).toEqual([
      `a waits ${windowMs - 1000}`,
      `a waits ${windowMs - 900}`,
      `a waits ${windowMs - 400}`,
      `a waits ${windowMs - 100}`,
    ]);
  });

  it('does not let calls that overlap take the same unit', async () => {
    const { store } = open();

    const spent = await Promise.all(
      Array.from({ length: 100 }, () => store.spend([{ account: 'a', limit: 7 }])),
    );

    expect(spent.filter(({ ok }) => ok)).toHaveLength(7);
    expect(store.units).toBe(7);
  });
});

describe('a spend from several accounts', () => {
  it('takes a unit of each or none of any, and names the one that recovers last', async () => {
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

    expect([refused, early, onTime].map(tell)).toEqual([`c waits ${windowMs}`, 'c waits 1', 'ok']);
    expect(states).toEqual([0, 1, 1, 0]);
    expect(store.units).toBe(4);
  });
});

describe('a unit that is given back', () => {
  it('is there at once, and only once', async () => {
    const { store } = open();
    const first = await spendOne(store, 'a', 3);
    await spendOne(store, 'a', 3);
    await spendOne(store, 'a', 3);

    first.giveBack();
    first.giveBack();

    expect(store.stateOf('a').spent).toBe(2);
    await spendOne(store, 'a', 3);
    first.giveBack();
    expect(tell(await store.spend([{ account: 'a', limit: 3 }]))).toBe(`a waits ${windowMs}`);
  });

  it('leaves the others their order', async () => {
    const { clock, store } = open();
    const spent = [];
    for (let index = 0; index < 4; index++) {
      spent.push(await spendOne(store, 'a'));
      await clock.advance(100);
    }

    spent[1]?.giveBack();
    const states = [store.stateOf('a')];
    spent[0]?.giveBack();
    states.push(store.stateOf('a'));
    spent[3]?.giveBack();
    states.push(store.stateOf('a'));
    spent[2]?.giveBack();
    states.push(store.stateOf('a'));

    expect(states).toEqual([
      { spent: 3, nextMs: windowMs - 400 },
      { spent: 2, nextMs: windowMs - 200 },
      { spent: 1, nextMs: windowMs - 200 },
      { spent: 0, nextMs: 0 },
    ]);
  });

  it('takes nothing of others after it expired, whoever has its slot', async () => {
    const { clock, store } = open();
    const late = await store.spend(['a', 'b'].map((account) => ({ account, limit: 1 })));
    await clock.advance(windowMs);
    await spendOne(store, 'a', 1);
    await spendOne(store, 'c', 1);

    if (late.ok) late.giveBack();

    expect(['a', 'b', 'c'].map((account) => store.stateOf(account).spent)).toEqual([1, 0, 1]);
  });

  it('is found after units were moved together', async () => {
    const { clock, store } = open();
    const spent = [];
    for (let index = 0; index < 30_000; index++) {
      if (index % 100 === 0) await clock.advance(1);
      spent.push(await spendOne(store, `key ${index ** 2 % 97}`));
    }
    const kept = spent.filter((_, index) => index % 10 === 0);
    const given = spent.filter((_, index) => index % 10 !== 0);
    const all = store.bytes;

    for (const unit of given) unit.giveBack();
    const few = { bytes: store.bytes, units: store.units };
    for (const unit of kept) unit.giveBack();

    expect(few.units).toBe(kept.length);
    expect(few.bytes).toBeLessThan(all / 2);
    expect(store.units).toBe(0);
    expect(store.stateOf('key 1')).toEqual({ spent: 0, nextMs: 0 });
  });

  it('lets units be spent and given back without end', async () => {
    const { store } = open(1000);
    await spendOne(store, 'before');

    for (let index = 0; index < 50_000; index++) (await spendOne(store, 'a', 1)).giveBack();

    expect(store.units).toBe(1);
    expect(store.bytes).toBeLessThan(mebibyte / 2);
  });
});

describe('the clock', () => {
  it('can be set back: units come back as time goes on, none early', async () => {
    const wall = { ms: 1_000_000_000 };
    const clock = { ...createManualClock(), now: () => wall.ms };
    const store = createAllowanceWindow({ windowMs, clock, random: systemRandom });
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

    expect([before, after, early, onTime].map(tell)).toEqual([
      `a waits ${windowMs - 1000}`,
      `a waits ${windowMs - 1000}`,
      'a waits 1',
      'ok',
    ]);
  });
});

describe('the most units that are held', () => {
  it('is not exceeded, and the wait is for the oldest units of all', async () => {
    const { clock, store } = open(3);
    for (const account of ['a', 'b', 'c']) {
      await spendOne(store, account);
      await clock.advance(100);
    }
    const one = [{ account: 'd', limit: 1 }];
    const two = [...one, { account: 'e', limit: 1 }];

    const refused = [await store.spend(one), await store.spend(two)];
    await clock.advance(windowMs - 300);
    const spent = await store.spend(one);
    const full = await store.spend([{ account: 'f', limit: 1 }]);

    expect([...refused, spent, full].map(tell)).toEqual([
      `d waits ${windowMs - 300}`,
      `d waits ${windowMs - 200}`,
      'ok',
      'f waits 100',
    ]);
    expect(store.units).toBe(3);
  });

  it('does not count units that are back, however many there are', async () => {
    const { clock, store } = open(400);
    for (let index = 0; index < 399; index++) await spendOne(store, 'a');
    await clock.advance(windowMs - 1);
    await spendOne(store, 'a');
    await clock.advance(1);
    const many = Array.from({ length: 399 }, (_, index) => ({ account: `b ${index}`, limit: 1 }));

    const spent = await store.spend(many);
    const full = await store.spend([{ account: 'c', limit: 1 }]);

    expect([spent, full].map(tell)).toEqual(['ok', `c waits ${windowMs - 1}`]);
  });

  it('does not count units that were given back', async () => {
    const { store } = open(2);
    const first = await spendOne(store, 'a');
    await spendOne(store, 'b');

    first.giveBack();

    expect(tell(await store.spend([{ account: 'c', limit: 1 }]))).toBe('ok');
  });
});

describe('a flood of 1,000,000 addresses', () => {
  it('is counted exactly, in less than 64 MiB, and leaves no memory behind', async () => {
    const { clock, store } = open();
    const small = store.bytes;

    const first = await flood(store, 1);
    await clock.advance(windowMs - 1);
    const second = await flood(store, 7);

    expect([first.allowed, second.allowed]).toEqual([1_000_000, 0]);
    expect(first.mostBytes).toBeLessThan(64 * mebibyte);
    expect(second.mostBytes).toBeLessThan(64 * mebibyte);
    expect(store.units).toBe(1_000_000);
    await clock.advance(1);
    expect(store.stateOf(addressAt(0))).toEqual({ spent: 0, nextMs: 0 });
    expect(store.bytes).toBeLessThan(small + mebibyte / 4);
  });

  it('leaves no memory behind where others go on reading, and takes no unit of theirs', async () => {
    const { clock, store } = open();
    const regulars = Array.from({ length: 100 }, (_, index) => `key ${index}`);
    for (let index = 0; index < 100_000; index++) {
      const regular = regulars[index % 4000];
      await spendOne(store, regular ?? addressAt(index));
    }
    await clock.advance(windowMs / 2);
    for (const account of regulars) await spendOne(store, account);
    const flooded = store.bytes;

    await clock.advance(windowMs / 2);
    for (let index = 0; index < 1000; index++) store.stateOf('somebody');

    expect(regulars.map((account) => store.stateOf(account))).toEqual(
      regulars.map(() => ({ spent: 1, nextMs: windowMs / 2 })),
    );
    expect(store.units).toBe(100);
    expect(store.bytes).toBeLessThan(flooded / 10);
  });
});

describe('a stream of new addresses', () => {
  it('takes the room of those whose units are back', async () => {
    const { clock, store } = open();
    let mostBytes = 0;

    for (let index = 0; index < 60_000; index++) {
      if (index % 100 === 0) await clock.advance(windowMs / 30);
      await spendOne(store, addressAt(index));
      mostBytes = Math.max(mostBytes, store.bytes);
    }

    expect(store.units).toBe(3000);
    expect(mostBytes).toBeLessThan(mebibyte / 2);
  });
});

/** Spends a unit of every address, or of every seventh, where each has one. */
async function flood(store: AllowanceWindow, step: number) {
  let allowed = 0;
  let mostBytes = 0;
  for (let index = 0; index < 1_000_000; index += step) {
    const { ok } = await store.spend([{ account: addressAt(index), limit: 1 }]);
    allowed += Number(ok);
    if (index % 1000 === 0) mostBytes = Math.max(mostBytes, store.bytes);
  }
  return { allowed, mostBytes };
}

/** Gives as many addresses as are asked for, of both kinds. */
function addressAt(index: number): string {
  return index % 2 === 0
    ? `public 10.${index >>> 16}.${(index >>> 8) & 255}.${index & 255}`
    : `public 2001:db8:${(index >>> 8).toString(16)}:${(index & 255).toString(16)}`;
}
