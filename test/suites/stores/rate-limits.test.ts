import { describe, expect, it } from 'vitest';
import {
  type Charge,
  createRateLimiter,
  type RateLimiter,
  type Spent,
} from '../../../src/access/rate-limits.ts';
import { createSharedRateLimiter } from '../../../src/access/shared-rate-limits.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import type { Engine } from '../../../src/lib/redis/engine.ts';
import { EngineError } from '../../../src/lib/redis/engine-error.ts';
import {
  describeWithEngine,
  openTestEngine,
  runEngineCli,
  startEngine,
} from '../../support/engine-server.ts';
import { createManualClock } from '../../support/manual-clock.ts';

/** Long, so that the time that a test takes does not matter. */
const windowMs = 600_000;
const a: Charge = { account: 'a', limit: 3, windowMs };

/** Tags accounts as the server does: by the network, which is the last charge. */
const tagOf = (charges: readonly Charge[]) => charges.at(-1)?.account ?? '';

const share = (engine: Engine, clock: Clock = systemClock): RateLimiter =>
  createSharedRateLimiter({ engine, clock, tagOf, secret: Buffer.alloc(32) });

interface Rig {
  readonly limiter: RateLimiter;
  /** Lets all windows begin earlier. */
  pass(ms: number): Promise<void>;
}

async function openOwn(): Promise<Rig> {
  const clock = createManualClock();
  return { limiter: createRateLimiter({ clock }), pass: clock.advance };
}

async function openShared(): Promise<Rig> {
  const server = await startEngine();
  const clock = createManualClock();
  const engine = await openTestEngine(server.url);
  const limiter = share(engine, clock);
  const pass = async (ms: number) => {
    await engine.run((client) => client.get('any')); // waits for earlier refunds
    moveWindows(server.port, -ms);
    await clock.advance(ms);
  };
  return { limiter, pass };
}

/** Changes the start of all windows in an engine. */
function moveWindows(port: number, ms: number): void {
  const move = `for _, key in ipairs(redis.call('keys', 'test:rate:*')) do
      local start, spent = string.match(redis.call('get', key), '(%S+) (%S+)')
      redis.call('set', key, string.format('%.3f %d', start + ARGV[1], spent), 'KEEPTTL')
    end`;
  runEngineCli('-p', `${port}`, 'eval', move, '0', `${ms}`);
}

async function spendAll(limiter: RateLimiter, charge: Charge, count: number): Promise<Spent[]> {
  const spent: Spent[] = [];
  for (let one = 0; one < count; one += 1) spent.push(await limiter.spend([charge]));
  return spent;
}

const listOk = (spent: readonly Spent[]) => spent.map(({ ok }) => ok);

function waitOf(spent: Spent | undefined): number {
  if (spent?.ok !== false) throw new Error('not refused');
  return spent.waitMs;
}

/** Tests for every rate limiter. */
function behave(open: () => Promise<Rig>): void {
  it('refuses what is beyond the limit until the window ends, and then starts a new one', async () => {
    const { limiter, pass } = await open();

    const spent = await spendAll(limiter, a, 5);
    await pass(waitOf(spent[4]));
    const after = await spendAll(limiter, a, 4);

    expect(listOk(spent)).toEqual([true, true, true, false, false]);
    expect(spent[3]).toMatchObject({ charge: a });
    expect(listOk(after)).toEqual([true, true, true, false]);
    expect(waitOf(after[3])).toBeGreaterThan(windowMs / 2);
  });

  it('starts a window with the first unit', async () => {
    const { limiter, pass } = await open();
    await limiter.spend([a]);
    await pass(windowMs / 2);
    await spendAll(limiter, a, 2);

    const waitMs = waitOf(await limiter.spend([a]));

    expect(waitMs).toBeGreaterThan(windowMs / 4);
    expect(waitMs).toBeLessThanOrEqual(windowMs / 2);
  });

  it('spends nothing of any account if one is exhausted', async () => {
    const { limiter } = await open();
    const both = [
      { account: 'b', limit: 10, windowMs },
      { account: 'net', limit: 1, windowMs },
    ] as const;

    const first = await limiter.spend(both);
    const second = await limiter.spend(both);

    expect(first.ok).toBe(true);
    expect(second).toMatchObject({ ok: false, charge: both[1] });
    await limiter.refresh?.(both);
    expect(limiter.stateOf(both[0]).spent).toBe(1);
  });

  it('names the exhausted account that must wait longest', async () => {
    const { limiter } = await open();
    const [short, long] = [
      { account: 's', limit: 1, windowMs: windowMs / 4 },
      { account: 'l', limit: 1, windowMs },
    ];
    for (const charge of [long, short]) await limiter.spend([charge]);

    const refused = await limiter.spend([short, long]);

    expect(refused).toMatchObject({ ok: false, charge: long });
    expect(waitOf(refused)).toBeGreaterThan(windowMs / 2);
  });

  it('returns refunded units once', async () => {
    const { limiter } = await open();
    const [first] = await spendAll(limiter, a, 3);

    for (const one of [first, first]) if (one?.ok) one.refund();

    expect(listOk(await spendAll(limiter, a, 2))).toEqual([true, false]);
  });

  it('starts a new window if all units of one are refunded', async () => {
    const { limiter, pass } = await open();
    const first = await limiter.spend([a]);
    if (first.ok) first.refund();
    await pass(windowMs / 2);

    await limiter.spend([a]);

    expect(limiter.stateOf(a).spent).toBe(1);
    expect(limiter.stateOf(a).resetMs).toBeGreaterThan(windowMs / 2);
  });

  it('ignores the refund of a unit whose window is over', async () => {
    const { limiter, pass } = await open();
    const late = await limiter.spend([a]);
    await pass(windowMs);
    await spendAll(limiter, a, 3);

    if (late.ok) late.refund();

    expect((await limiter.spend([a])).ok).toBe(false);
  });

  it('reports the spent units and the end of the window', async () => {
    const { limiter, pass } = await open();
    const before = limiter.stateOf(a);
    await spendAll(limiter, a, 2);
    await pass(windowMs / 2);
    const { spent, resetMs } = limiter.stateOf(a);
    await pass(windowMs / 2);

    expect([before, limiter.stateOf(a)]).toEqual([
      { spent: 0, resetMs: windowMs },
      { spent: 0, resetMs: windowMs },
    ]);
    expect(spent).toBe(2);
    expect(resetMs).toBeGreaterThan(windowMs / 4);
    expect(resetMs).toBeLessThanOrEqual(windowMs / 2);
  });

  it('returns only some units at the end of a window, to allow bursts', async () => {
    const { limiter, pass } = await open();
    const charge = { ...a, regained: 1 };

    const burst = await spendAll(limiter, charge, 4);
    await pass(waitOf(burst[3]));
    const after = await spendAll(limiter, charge, 2);
    await pass(2 * windowMs);
    const later = await spendAll(limiter, charge, 3);

    expect(listOk(burst)).toEqual([true, true, true, false]);
    expect(listOk(after)).toEqual([true, false]);
    expect(listOk(later)).toEqual([true, true, false]);
  });
}

describe('rate limits of one process', () => {
  behave(openOwn);
});

describeWithEngine('rate limits of several instances', () => {
  behave(openShared);

  it('count together', async () => {
    const server = await startEngine();
    const [one, two] = [await openTestEngine(server.url), await openTestEngine(server.url)];
    const [left, right] = [share(one), share(two)];

    const spent = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? left : right).spend([a])),
    );

    expect(spent.filter(({ ok }) => ok)).toHaveLength(a.limit);
    await left.refresh?.([a]);
    expect(left.stateOf(a).spent).toBe(a.limit);
  });

  it('are divided while the engine fails, and shared again when it answers', async () => {
    const server = await startEngine();
    const engines = [await openTestEngine(server.url), await openTestEngine(server.url)];
    await expect.poll(() => engines.map(({ state }) => state.instances)).toEqual([2, 2]);
    const limiters = engines.map((engine) => share(engine));
    const charge = { account: 'c', limit: 8, windowMs };
    await server.stop();

    const alone = await Promise.all(
      limiters.flatMap((limiter) => Array.from({ length: 10 }, () => limiter.spend([charge]))),
    );

    expect(alone.filter(({ ok }) => ok)).toHaveLength(charge.limit);
    expect(limiters.map((limiter) => limiter.stateOf(charge).spent)).toEqual([8, 8]);
    await server.start();
    await expect.poll(() => engines.map(({ state }) => state.isUp)).toEqual([true, true]);
    const shared = await Promise.all(
      limiters.flatMap((limiter) => Array.from({ length: 10 }, () => limiter.spend([charge]))),
    );
    expect(shared.filter(({ ok }) => ok)).toHaveLength(charge.limit);
  });

  it('are reported by each instance while the engine answers but refuses changes', async () => {
    const server = await startEngine();
    const limiter = share(await openTestEngine(server.url));
    const charge = { account: 'f', limit: 8, windowMs };
    runEngineCli('-p', `${server.port}`, 'config', 'set', 'maxmemory', '1');

    await spendAll(limiter, charge, 2);

    expect(limiter.stateOf(charge).spent).toBe(2);
    runEngineCli('-p', `${server.port}`, 'config', 'set', 'maxmemory', '0');
    await limiter.spend([charge]);
    expect(limiter.stateOf(charge).spent).toBe(1);
  });

  it('are divided by the instances of the last minutes, also if fewer are counted now', async () => {
    const engine = await openTestEngine((await startEngine()).url);
    let state: Engine['state'] = { isUp: true, fault: null, instances: 4 };
    const limiter = share({
      ...engine,
      get state() {
        return state;
      },
      evaluate: (script, call) =>
        state.isUp ? engine.evaluate(script, call) : Promise.reject(new EngineError('down', true)),
    });
    const charge = { account: 'd', limit: 8, windowMs };
    await limiter.spend([charge]);

    state = { isUp: false, fault: 'down', instances: 1 };
    const alone = await Promise.all(Array.from({ length: 10 }, () => limiter.spend([charge])));

    expect(alone.filter(({ ok }) => ok)).toHaveLength(2);
  });

  it('show a refund at once, before the engine has answered', async () => {
    const limiter = share(await openTestEngine((await startEngine()).url));
    const [, second] = await spendAll(limiter, a, 2);

    if (second?.ok) second.refund();

    expect(limiter.stateOf(a).spent).toBe(1);
  });

  it('start a new window if the clock of the engine is set back', async () => {
    const server = await startEngine();
    const limiter = share(await openTestEngine(server.url));
    const charge = { account: 'f', limit: 1, windowMs };
    expect(listOk(await spendAll(limiter, charge, 2))).toEqual([true, false]);

    moveWindows(server.port, 3_600_000);

    expect(listOk(await spendAll(limiter, charge, 2))).toEqual([true, false]);
  });

  it('expire in the engine when no unit counts any more', async () => {
    const server = await startEngine();
    const limiter = share(await openTestEngine(server.url));
    const burst = { account: 'g', limit: 9, windowMs, regained: 1 };
    const ask = (script: string) =>
      Number(runEngineCli('-p', `${server.port}`, 'eval', script, '0'));
    const countKeys = () => ask("return #redis.call('keys', 'test:rate:*')");

    const first = await limiter.spend([a]);
    const before = countKeys();
    if (first.ok) first.refund();
    await expect.poll(countKeys).toBe(0);
    await spendAll(limiter, burst, 3);
    const lifetimeMs = ask("return redis.call('pttl', redis.call('keys', 'test:rate:*')[1])");

    expect(before).toBe(1);
    expect(lifetimeMs).toBeGreaterThan(2 * windowMs);
    expect(lifetimeMs).toBeLessThanOrEqual(3 * windowMs);
  });
});
