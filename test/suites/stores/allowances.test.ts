import { describe, expect, it } from 'vitest';
import type { AllowanceStore, Charge } from '../../../src/access/allowances/allowance-store.ts';
import { AllowanceWindow } from '../../../src/access/allowances/allowance-window.ts';
import { createSharedAllowances } from '../../../src/access/allowances/shared-allowances.ts';
import { systemClock } from '../../../src/core/clock.ts';
import type { Engine } from '../../../src/core/engine/engine.ts';
import { EngineError } from '../../../src/core/engine/engine-error.ts';
import {
  describeWithEngine,
  openTestEngine,
  runEngineCli,
  startEngine,
} from '../../support/engine-server.ts';

const clock = systemClock;
const windowMs = 3000;
const a: Charge = { account: 'a', limit: 3 };

/** Tags accounts as the server does: by the network, which is the last charge. */
const tagOf = (charges: readonly Charge[]) => charges.at(-1)?.account ?? '';

const share = (engine: Engine): AllowanceStore =>
  createSharedAllowances({ engine, windowMs, clock, tagOf, secret: Buffer.alloc(32) });

/** Tests for every store of allowances. */
function behave(open: () => Promise<AllowanceStore>): void {
  it('refuses what is beyond the limit, and says when it regains a unit', async () => {
    const store = await open();

    const spent = [];
    for (let count = 0; count < 5; count += 1) spent.push(await store.spend([a]));

    expect(spent.map(({ ok }) => ok)).toEqual([true, true, true, false, false]);
    const refused = spent[3];
    if (refused?.ok !== false) throw new Error('not refused');
    expect(refused.account).toBe('a');
    expect(refused.waitMs).toBeGreaterThan(0);
    expect(refused.waitMs).toBeLessThanOrEqual(windowMs);
    await clock.sleep(refused.waitMs + 2);
    expect((await store.spend([a])).ok).toBe(true);
  });

  it('spends nothing of any account if one is exhausted', async () => {
    const store = await open();
    const both = [
      { account: 'b', limit: 10 },
      { account: 'net', limit: 1 },
    ];

    const first = await store.spend(both);
    const second = await store.spend(both);

    expect(first.ok).toBe(true);
    expect(second).toMatchObject({ ok: false, account: 'net' });
    await store.refresh?.(both);
    expect(store.stateOf('b').spent).toBe(1);
  });

  it('returns refunded units once', async () => {
    const store = await open();
    const spent = [await store.spend([a]), await store.spend([a]), await store.spend([a])];

    for (const one of [spent[0], spent[0]]) if (one?.ok) one.refund();

    expect((await store.spend([a])).ok).toBe(true);
    expect((await store.spend([a])).ok).toBe(false);
  });

  it('reports the spent units and the wait for the next one', async () => {
    const store = await open();
    expect(store.stateOf('a')).toEqual({ spent: 0, nextMs: 0 });

    await store.spend([a]);
    await store.spend([a]);

    const { spent, nextMs } = store.stateOf('a', a.limit);
    expect(spent).toBe(2);
    expect(nextMs).toBeGreaterThan(0);
    expect(nextMs).toBeLessThanOrEqual(windowMs);
  });
}

describe('allowances in one process', () => {
  behave(async () => new AllowanceWindow({ windowMs, clock }));
});

describeWithEngine('allowances of several instances', () => {
  behave(async () => share(await openTestEngine((await startEngine()).url)));

  it('count together', async () => {
    const server = await startEngine();
    const [one, two] = [await openTestEngine(server.url), await openTestEngine(server.url)];
    const [left, right] = [share(one), share(two)];

    const spent = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? left : right).spend([a])),
    );

    expect(spent.filter(({ ok }) => ok)).toHaveLength(a.limit);
    await left.refresh?.([a]);
    expect(left.stateOf('a', a.limit).spent).toBe(a.limit);
  });

  it('are divided while the engine fails, and shared again when it answers', async () => {
    const server = await startEngine();
    const engines = [await openTestEngine(server.url), await openTestEngine(server.url)];
    await expect.poll(() => engines.map(({ state }) => state.instances)).toEqual([2, 2]);
    const stores = engines.map(share);
    const charge = { account: 'c', limit: 8 };
    await server.stop();

    const alone = await Promise.all(
      stores.flatMap((store) => Array.from({ length: 10 }, () => store.spend([charge]))),
    );

    expect(alone.filter(({ ok }) => ok)).toHaveLength(charge.limit);
    expect(stores.map((store) => store.stateOf('c', charge.limit).spent)).toEqual([8, 8]);
    await server.start();
    await expect.poll(() => engines.map(({ state }) => state.isUp)).toEqual([true, true]);
    const shared = await Promise.all(
      stores.flatMap((store) => Array.from({ length: 10 }, () => store.spend([charge]))),
    );
    expect(shared.filter(({ ok }) => ok)).toHaveLength(charge.limit);
  });

  it('are reported by each instance while the engine answers but refuses changes', async () => {
    const server = await startEngine();
    const store = share(await openTestEngine(server.url));
    const charge = { account: 'f', limit: 8 };
    runEngineCli('-p', `${server.port}`, 'config', 'set', 'maxmemory', '1');

    await store.spend([charge]);
    await store.spend([charge]);

    expect(store.stateOf('f', charge.limit).spent).toBe(2);
    runEngineCli('-p', `${server.port}`, 'config', 'set', 'maxmemory', '0');
    await store.spend([charge]);
    expect(store.stateOf('f', charge.limit).spent).toBe(1);
  });

  it('are divided by the instances of the last minutes, also if fewer are counted now', async () => {
    const engine = await openTestEngine((await startEngine()).url);
    let state: Engine['state'] = { isUp: true, fault: null, instances: 4 };
    const store = share({
      ...engine,
      get state() {
        return state;
      },
      evaluate: (script, call) =>
        state.isUp ? engine.evaluate(script, call) : Promise.reject(new EngineError('down', true)),
    });
    const charge = { account: 'd', limit: 8 };
    await store.spend([charge]);

    state = { isUp: false, fault: 'down', instances: 1 };
    const alone = await Promise.all(Array.from({ length: 10 }, () => store.spend([charge])));

    expect(alone.filter(({ ok }) => ok)).toHaveLength(2);
  });

  it('wait no longer than a window if the clock of the engine is set back', async () => {
    const server = await startEngine();
    const engine = await openTestEngine(server.url);
    const store = createSharedAllowances({
      ...{ engine, clock, tagOf, secret: Buffer.alloc(32) },
      windowMs: 600_000,
    });
    const charge = { account: 'f', limit: 1 };
    expect((await store.spend([charge])).ok).toBe(true);
    expect((await store.spend([charge])).ok).toBe(false);
    const anHourAhead = `local key = redis.call('keys', 'test:allowance:*')[1]
      return redis.call('zincrby', key, 3600000, redis.call('zrange', key, 0, 0)[1])`;

    runEngineCli('-p', `${server.port}`, 'eval', anHourAhead, '0');

    expect((await store.spend([charge])).ok).toBe(true);
    expect(await store.spend([charge])).toMatchObject({ ok: false });
  });

  it('outlive their units in the engine by no less than a window', async () => {
    const server = await startEngine();
    const engine = await openTestEngine(server.url);
    const options = { engine, clock, tagOf, secret: Buffer.alloc(32) };
    const store = createSharedAllowances({ ...options, windowMs: 300 });
    // One script, because a unit or its key can expire between two commands.
    const lastUnit = `local key = redis.call('keys', 'test:allowance:*')[1]
      if not key then return {} end
      return {redis.call('zrange', key, -1, -1, 'withscores')[2], redis.call('pexpiretime', key)}`;

    for (let count = 0; count < 15; count += 1) {
      await store.spend([{ account: 'e', limit: 4 }]);
      await store.refresh?.([{ account: 'e', limit: 4 }]);
      const [score, expiryMs] = runEngineCli('-p', `${server.port}`, 'eval', lastUnit, '0').split(
        '\n',
      );
      if (score) expect(Number(expiryMs)).toBeGreaterThanOrEqual(Number(score) + 300);
      await clock.sleep(40);
    }
  });
});
