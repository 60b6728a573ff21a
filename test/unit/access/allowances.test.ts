import { describe, expect, it } from 'vitest';
import {
  type Account,
  type AllowanceLimits,
  createAllowances,
} from '../../../src/access/allowances.ts';
import { createRateLimiter } from '../../../src/access/rate-limits.ts';
import type { PoolShare, SpentUnit } from '../../../src/lib/caller.ts';
import { Problem } from '../../../src/lib/problem.ts';
import { clause } from '../../support/clause.ts';
import { fc, runs } from '../../support/fast-check.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const windowMs = 60_000;

const sizes: AllowanceLimits = {
  windowSeconds: 60,
  public: 4,
  key: 9,
  post: 6,
  media: 6,
  pool: 10,
};

function setUp(limits: Partial<AllowanceLimits> = {}, maxAccounts = 100_000) {
  const all = { ...sizes, ...limits };
  const clock = createManualClock();
  const limiters = {
    callers: createRateLimiter({ clock, maxSize: maxAccounts }),
    pool: createRateLimiter({ clock }),
  };
  return { clock, allowances: createAllowances(limiters, all) };
}

/** Spends a unit, and returns it or the seconds to wait. */
async function attempt<Had>(spend: () => Promise<Had>): Promise<Had | number> {
  try {
    return await spend();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'rate_limited') throw error;
    return error.retryAfterSeconds ?? Number.NaN;
  }
}

/** Reference model: the units of each account, in windows that begin with the first unit. */
class Reference {
  readonly #windows = new Map<string, { fromMs: number; spent: number }[]>();

  /** Seconds until a unit of each account is available; 0 if one is available now. */
  waitSeconds(charges: readonly { name: string; limit: number }[], nowMs: number): number {
    const waits = charges.map(({ name, limit }) => {
      const { spent, untilMs } = this.windowOf(name, nowMs);
      return spent < limit ? 0 : untilMs - nowMs;
    });
    return Math.ceil(Math.max(...waits) / 1000);
  }

  spend(names: readonly string[], atMs: number): void {
    for (const name of names) {
      const windows = this.#windows.get(name) ?? [];
      const last = windows.at(-1);
      if (last === undefined || last.spent === 0 || atMs >= last.fromMs + windowMs) {
        windows.push({ fromMs: atMs, spent: 1 });
      } else last.spent += 1;
      this.#windows.set(name, windows);
    }
  }

  refund(name: string): void {
    const last = this.#windows.get(name)?.at(-1);
    if (last) last.spent -= 1;
  }

  /** Spent units and end of the window; that of a new window if none is spent. */
  windowOf(name: string, nowMs: number): Readonly<Record<'spent' | 'untilMs', number>> {
    const last = this.#windows.get(name)?.at(-1);
    const isOver = last === undefined || last.spent === 0 || nowMs >= last.fromMs + windowMs;
    if (isOver) return { spent: 0, untilMs: nowMs + windowMs };
    return { spent: last.spent, untilMs: last.fromMs + windowMs };
  }

  /** Maximum number of units of an account in a window. */
  most(name: string): number {
    return Math.max(0, ...(this.#windows.get(name) ?? []).map(({ spent }) => spent));
  }
}

const ownLimits = [null, null, null, 2, 7, null, 5] as const;
const policies = ['public', 'public', 'key', 'key', 'key', 'post', 'public'] as const;

function accountsOf(allowances: ReturnType<typeof setUp>['allowances']): readonly Account[] {
  return policies.map((policy, index) =>
    allowances.accountOf(policy, `${policy}-${index}`, ownLimits[index]),
  );
}

/** Milliseconds between requests: bursts, edges of the window, and arbitrary values. */
const pause = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(0, 0, 1, 400, 999, 1000) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
  { weight: 1, arbitrary: fc.constantFrom(windowMs - 1, windowMs, windowMs + 1) },
);

const step = fc.record({
  pause,
  account: fc.nat({ max: policies.length - 1 }),
  /** Whether a spent unit is refunded immediately. */
  givesBack: fc.nat({ max: 9 }).map((n) => n === 0),
  /** Whether a refused caller waits, first one second too short and then exactly. */
  waits: fc.nat({ max: 9 }).map((n) => n === 0),
});

interface Compared {
  readonly rig: ReturnType<typeof setUp>;
  readonly model: Reference;
  readonly account: Account;
}

/** Spends a unit of an account and in the model, which must agree, and returns the result. */
async function spendAlike({ rig, model, account }: Compared): Promise<SpentUnit | number> {
  const { clock, allowances } = rig;
  const { account: name, limit } = account;
  const waitSeconds = model.waitSeconds([{ name, limit }], clock.now());

  const had = await attempt(() => allowances.spend(account));

  expect(typeof had === 'number' ? had : 0).toBe(waitSeconds);
  if (waitSeconds === 0) model.spend([name], clock.now());
  const { spent, untilMs } = model.windowOf(name, clock.now());
  expect(allowances.stateOf(account)).toEqual({
    remaining: Math.max(0, limit - spent),
    resetSeconds: Math.ceil((untilMs - clock.now()) / 1000),
    validMs: spent === 0 ? Number.POSITIVE_INFINITY : expect.any(Number),
  });
  return had;
}

async function takeStep(
  compared: Compared,
  { givesBack, waits }: { readonly givesBack: boolean; readonly waits: boolean },
): Promise<void> {
  const { rig, model, account } = compared;
  const had = await spendAlike(compared);
  if (typeof had !== 'number') {
    if (!givesBack) return;
    had.refund();
    model.refund(account.account);
  } else if (waits) {
    await rig.clock.advance((had - 1) * 1000);
    expect(await spendAlike(compared)).toBe(1);
    await rig.clock.advance(1000);
    expect(await spendAlike(compared)).toBeTypeOf('object');
  }
}

describe('the allowances of callers', () => {
  it('tells how much of the pool is used in the current window', async () => {
    const { clock, allowances } = setUp();

    await allowances.pool.take('keyed');
    await clock.advance(30_000);
    await allowances.pool.take('anonymous');
    expect(await allowances.poolUse()).toEqual({ used: 2, limit: 10, windowSeconds: 60 });
    await clock.advance(30_000);

    expect(await allowances.poolUse()).toMatchObject({ used: 0 });
  });

  clause('read.limits.exhausted_429_retry_after', 'read.errors.rate_limit')(
    'match a reference model in 10,000 requests at random times',
    async () => {
      const schedule = fc.asyncProperty(
        fc.array(step, { minLength: 500, maxLength: 500 }),
        async (steps) => {
          const rig = setUp();
          const accounts = accountsOf(rig.allowances);
          const model = new Reference();
          for (const { pause, account: index, ...rest } of steps) {
            await rig.clock.advance(pause);
            // An index of the table.
            await takeStep({ rig, model, account: accounts[index] as Account }, rest);
          }
          for (const { account, limit } of accounts) {
            expect(model.most(account)).toBeLessThanOrEqual(limit);
          }
        },
      );

      await fc.assert(schedule, { numRuns: runs(20) });
    },
  );

  clause('read.limits.exhausted_429_retry_after')(
    'can be spent twice at the border of two windows, and then not before the second one ends',
    async () => {
      const { clock, allowances } = setUp();
      const account = allowances.accountOf('public', 'edge');
      const spendAll = async () => {
        let spent = 0;
        while (typeof (await attempt(() => allowances.spend(account))) !== 'number') spent += 1;
        return spent;
      };
      await allowances.spend(account);
      await clock.advance(windowMs - 1);
      const before = await spendAll();

      await clock.advance(1);
      const after = await spendAll();
      const refused = await attempt(() => allowances.spend(account));
      await clock.advance(windowMs - 1);
      const beforeEnd = await attempt(() => allowances.spend(account));
      await clock.advance(1);

      expect([1 + before, after, refused, beforeEnd]).toEqual([4, 4, 60, 1]);
      expect(await spendAll()).toBe(4);
    },
  );

  it('expire on time also if those of many others expire', async () => {
    const { clock, allowances } = setUp();
    const accounts = Array.from({ length: 2000 }, (_, n) => allowances.accountOf('public', `${n}`));
    for (const account of accounts) await allowances.spend(account);
    const last = accounts.at(-1) as Account; // there are 2000
    for (let unit = 1; unit < sizes.public; unit += 1) await allowances.spend(last);
    await clock.advance(1);
    await allowances.spend(allowances.accountOf('public', 'later'));

    await clock.advance(windowMs - 2);
    const tooSoon = await attempt(() => allowances.spend(last));
    await clock.advance(1);
    const inTime = await attempt(() => allowances.spend(last));

    expect(tooSoon).toBe(1);
    expect(inTime).toBeTypeOf('object');
    expect(allowances.stateOf(last).remaining).toBe(sizes.public - 1);
  });

  it('are separate for each policy, address and key', async () => {
    const { allowances } = setUp({ public: 1, key: 1, post: 1 });
    const names = ['192.0.2.1', '192.0.2.2'];
    const accounts = (['public', 'key', 'post'] as const).flatMap((policy) =>
      names.map((name) => allowances.accountOf(policy, name)),
    );

    for (const account of accounts) await allowances.spend(account);

    expect(accounts.map((account) => allowances.stateOf(account).remaining)).toEqual(
      Array(6).fill(0),
    );
  });

  it('have the size of the key, or else of the policy', () => {
    const { allowances } = setUp();
    const limitOf = (policy: 'public' | 'key' | 'post', own?: number | null) =>
      allowances.accountOf(policy, 'somebody', own).limit;

    expect([limitOf('public'), limitOf('key', null), limitOf('key', 3), limitOf('post')]).toEqual([
      4, 9, 3, 6,
    ]);
  });

  clause('read.errors.rate_limit')(
    'report the exact wait if the limit was lowered below the spent units',
    async () => {
      const { clock, allowances } = setUp();
      const large = allowances.accountOf('key', 'lowered', 5);
      for (let unit = 0; unit < 5; unit += 1) {
        await allowances.spend(large);
        await clock.advance(10_000);
      }
      const small = allowances.accountOf('key', 'lowered', 2);

      const refused = await attempt(() => allowances.spend(small));
      await clock.advance(9999);
      const tooSoon = await attempt(() => allowances.spend(small));
      await clock.advance(1);
      const inTime = await attempt(() => allowances.spend(small));

      expect([refused, tooSoon]).toEqual([10, 1]);
      expect(inTime).toBeTypeOf('object');
    },
  );

  it('report the wait in whole seconds, rounded up', async () => {
    const { clock, allowances } = setUp({ public: 1 });
    const account = allowances.accountOf('public', 'round');
    await allowances.spend(account);
    const waits: unknown[] = [];

    for (const ms of [1, 998, 1, 58_999]) {
      await clock.advance(ms);
      waits.push(await attempt(() => allowances.spend(account)));
    }

    expect(waits).toEqual([60, 60, 59, 1]);
  });

  it('refund a unit once', async () => {
    const { allowances } = setUp();
    const account = allowances.accountOf('public', 'back');
    const [first] = [await allowances.spend(account), await allowances.spend(account)];

    first?.refund();
    first?.refund();

    expect(allowances.stateOf(account).remaining).toBe(3);
  });
});

describe('an IPv6 network', () => {
  it('has eight allowances for all its addresses together', async () => {
    const { allowances } = setUp();
    const spent = [];
    for (let host = 0; host < 50; host += 1) {
      const account = allowances.accountOf('public', `2001:db8:1:${host.toString(16)}`);
      spent.push(await attempt(() => allowances.spend(account)));
    }

    expect(spent.filter((one) => typeof one === 'object')).toHaveLength(8 * 4);
    expect(spent.at(-1)).toBe(60);
  });

  it('is shown in the state of its addresses if it has less left than they have', async () => {
    const { clock, allowances } = setUp();
    for (let host = 0; host < 31; host += 1) {
      await allowances.spend(allowances.accountOf('post', `2001:db8:1:${host.toString(16)}`));
      await allowances.spend(allowances.accountOf('public', `2001:db8:1:${host.toString(16)}`));
    }
    await clock.advance(20_000);
    const fresh = allowances.accountOf('public', '2001:db8:1:ffff');

    const state = allowances.stateOf(fresh);
    await allowances.spend(fresh);

    expect(state).toMatchObject({ remaining: 1, resetSeconds: 40 });
    expect(await attempt(() => allowances.spend(fresh))).toBe(40);
  });

  it('does not affect other networks and IPv4', async () => {
    const { allowances } = setUp({ public: 1 });
    for (let host = 0; host < 20; host += 1) {
      const account = allowances.accountOf('public', `2001:db8:1:${host.toString(16)}`);
      await attempt(() => allowances.spend(account));
    }

    for (const name of ['2001:db8:2:0', '192.0.2.1']) {
      const account = allowances.accountOf('public', name);
      expect(typeof (await attempt(() => allowances.spend(account)))).toBe('object');
    }
  });
});

describe('the histories of one client', () => {
  const client = { address: '192.0.2.1', network: null };

  it('leave half of the pool to other clients, and all histories leave a part to other reads', async () => {
    const { allowances } = setUp({ pool: 80 });
    const { pool } = allowances;
    const takeAll = async (take: () => Promise<void>) => {
      let taken = 0;
      while (typeof (await attempt(take)) !== 'number') taken += 1;
      return taken;
    };

    const own = await takeAll(() => pool.take('anonymous', client));
    const others = await takeAll(() =>
      pool.take('anonymous', { address: '192.0.2.2', network: null }),
    );
    const reads = await takeAll(() => pool.take('anonymous'));

    expect([own, others, reads]).toEqual([40, 10, 14]);
  });
});

describe('the pool', () => {
  const shareLimits: Readonly<Record<PoolShare, readonly { name: string; limit: number }[]>> = {
    keyed: [{ name: 'all', limit: 10 }],
    anonymous: [
      { name: 'all', limit: 10 },
      { name: 'anonymous', limit: 8 },
    ],
  };

  const request = fc.record({
    pause,
    share: fc.constantFrom<PoolShare>('anonymous', 'anonymous', 'keyed'),
    waits: fc.nat({ max: 9 }).map((n) => n === 0),
  });

  clause('read.limits.key_larger_share')(
    'matches a reference model: four fifths for callers without a key',
    async () => {
      const schedule = fc.asyncProperty(
        fc.array(request, { minLength: 300, maxLength: 300 }),
        async (requests) => {
          const { clock, allowances } = setUp();
          const model = new Reference();
          const takeAlike = async (share: PoolShare): Promise<number> => {
            const charges = shareLimits[share];
            const waitSeconds = model.waitSeconds(charges, clock.now());
            const took = await attempt(() => allowances.pool.take(share));
            expect(took ?? 0).toBe(waitSeconds);
            const names = charges.map(({ name }) => name);
            if (waitSeconds === 0) model.spend(names, clock.now());
            return waitSeconds;
          };
          for (const { pause, share, waits } of requests) {
            await clock.advance(pause);
            const waitSeconds = await takeAlike(share);
            if (waitSeconds === 0 || !waits) continue;
            await clock.advance((waitSeconds - 1) * 1000);
            expect(await takeAlike(share)).toBe(1);
            await clock.advance(1000);
            expect(await takeAlike(share)).toBe(0);
          }
          expect([model.most('all'), model.most('anonymous')]).toEqual([
            expect.toSatisfy((n) => n <= 10),
            expect.toSatisfy((n) => n <= 8),
          ]);
        },
      );

      await fc.assert(schedule, { numRuns: runs(10) });
    },
  );

  it.each([
    [1, 1, 0],
    [2, 1, 1],
    [5, 4, 1],
    [35, 28, 7],
    [799, 639, 160],
    [800, 640, 160],
  ])('of %i has %i for all and %i more for callers with a key', async (pool, forAll, forKeys) => {
    const { allowances } = setUp({ pool });
    const takeAll = async (share: PoolShare): Promise<number> => {
      let taken = 0;
      while (typeof (await attempt(() => allowances.pool.take(share))) !== 'number') taken += 1;
      return taken;
    };

    expect([await takeAll('anonymous'), await takeAll('keyed')]).toEqual([forAll, forKeys]);
  });

  it('is not evicted when many callers spend', async () => {
    const { allowances } = setUp({ pool: 1 }, 5);
    const accounts = Array.from({ length: 6 }, (_, n) => allowances.accountOf('post', `${n}`));
    await allowances.pool.take('anonymous');

    for (const account of accounts) await allowances.spend(account);

    expect(accounts.map((account) => allowances.stateOf(account).remaining)).toEqual([
      6, 5, 5, 5, 5, 5,
    ]);
    expect(await attempt(() => allowances.pool.take('anonymous'))).toBe(60);
  });

  it('spends nothing if one of its parts is exhausted', async () => {
    const { allowances, clock } = setUp();
    for (let taken = 0; taken < 8; taken += 1) await allowances.pool.take('anonymous');

    for (let times = 0; times < 5; times += 1) {
      expect(await attempt(() => allowances.pool.take('anonymous'))).toBe(60);
    }
    await allowances.pool.take('keyed');
    await allowances.pool.take('keyed');

    expect(await attempt(() => allowances.pool.take('keyed'))).toBe(60);
    await clock.advance(windowMs);
    expect(await attempt(() => allowances.pool.take('anonymous'))).toBeUndefined();
  });
});
