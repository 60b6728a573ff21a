import { beforeAll, describe, expect, it } from 'vitest';
import type { AccountState, Charge } from '../../../src/access/allowances/allowance-store.ts';
import { AllowanceWindow } from '../../../src/access/allowances/allowance-window.ts';
import { createManualClock } from '../../support/manual-clock.ts';

/** A unit in the model: the expected state of the store. */
interface Unit {
  readonly account: string;
  readonly atMs: number;
  /** Number of times that the account was evicted before. */
  readonly life: number;
  isBack: boolean;
}

interface Run {
  readonly seed: number;
  readonly operations: number;
  readonly accounts: number;
  readonly windowMs: number;
  readonly maxAccounts?: number;
  /** Limit of an account at an operation. */
  limitOf(account: number, operation: number): number;
  /** Time between two operations; `chance` is from 0 to 1. */
  stepMs(chance: number): number;
  /** Share of spent units that are refunded later. */
  readonly givenBack: number;
}

const runs: readonly (Run & { readonly name: string })[] = [
  {
    name: 'many accounts, limits that change',
    seed: 1,
    operations: 10_000,
    accounts: 120,
    windowMs: 60_000,
    limitOf: (account, operation) => 1 + ((account * 7 + Math.floor(operation / 900) * 13) % 9),
    stepMs: (chance) => (chance < 0.3 ? 0 : chance < 0.31 ? 60_000 : Math.floor(chance * 700)),
    givenBack: 0.25,
  },
  {
    name: 'bursts around the edges of a short window',
    seed: 2,
    operations: 10_000,
    accounts: 30,
    windowMs: 10,
    limitOf: (account) => 1 + (account % 5),
    stepMs: (chance) => [0, 0, 0, 0, 0, 1, 1, 9, 10, 11][Math.floor(chance * 10)] ?? 0,
    givenBack: 0.3,
  },
  {
    name: 'few accounts with many units, most of them given back late',
    seed: 3,
    operations: 10_000,
    accounts: 5,
    windowMs: 60_000,
    limitOf: (account) => 500 + account * 300,
    stepMs: (chance) => (chance < 0.7 ? 0 : 4),
    givenBack: 0.9,
  },
  {
    name: 'more accounts than are remembered',
    seed: 4,
    operations: 10_000,
    accounts: 200,
    windowMs: 5000,
    maxAccounts: 50,
    limitOf: (account) => 1 + (account % 7),
    stepMs: (chance) => Math.floor(chance ** 3 * 200),
    givenBack: 0,
  },
];

describe.each(runs)('an allowance window and a reference list of units: $name', (run) => {
  let played: Awaited<ReturnType<typeof play>>;
  beforeAll(async () => {
    played = await play(run);
  });

  it('agree on every result, wait and state', () => {
    expect(played.results).toEqual(played.expected);
  });

  it('have no window with more units than the limit, while the account is remembered', () => {
    expect(played.limits.size).toBe(run.accounts);
    expect(played.kept.some(({ life }) => life > 0)).toBe(run.maxAccounts !== undefined);
    for (const [account, limit] of played.limits) {
      const units = played.kept.filter((unit) => unit.account === account);
      const crowded = units.filter(({ atMs, life }, index) => {
        const after = units[index + limit];
        return after?.life === life && after.atMs - atMs < run.windowMs;
      });
      expect(crowded).toEqual([]);
    }
  });
});

/** Applies an operation to the store and the model, and returns both results. */
async function play(run: Run) {
  let nowMs = Date.UTC(2026, 10, 21);
  const clock = { ...createManualClock(), now: () => nowMs };
  const chance = createChance(run.seed);
  const store = new AllowanceWindow({ ...run, clock });
  const model = createModel(run);
  const results: unknown[] = [];
  const expected: unknown[] = [];
  const limits = new Map<string, number>();
  const pending: { refund(): void; units: readonly Unit[] }[] = [];

  for (let operation = 0; operation < run.operations; operation++) {
    nowMs += run.stepMs(chance());
    await spendSome(makeCharges(run, operation, chance));
    if (chance() < run.givenBack * 1.2) giveOneBack();
    compareStates(nameOf(Math.floor(chance() * run.accounts)));
  }
  return { results, expected, limits, kept: model.all.filter(({ isBack }) => !isBack) };

  async function spendSome(charges: readonly Charge[]) {
    for (const { account, limit } of charges) {
      limits.set(account, Math.max(limit, limits.get(account) ?? 0));
    }
    const spent = await store.spend(charges);
    const { told, units } = model.spend(charges, nowMs);
    results.push(spent.ok ? { ok: true } : spent);
    expected.push(told);
    if (spent.ok && chance() < run.givenBack) pending.push({ refund: spent.refund, units });
  }

  /** Refunds units that were spent before: late, or twice, at random. */
  function giveOneBack() {
    const at = Math.floor(chance() * pending.length);
    const one = pending[at];
    if (one === undefined) return;
    if (chance() < 0.8) pending.splice(at, 1);
    one.refund();
    for (const unit of one.units) {
      if (nowMs - unit.atMs < run.windowMs) unit.isBack = true;
    }
  }

  function compareStates(account: string) {
    results.push(store.stateOf(account));
    expected.push(model.stateOf(account, nowMs));
  }
}

function makeCharges(run: Run, operation: number, chance: () => number): readonly Charge[] {
  const first = Math.floor(chance() * run.accounts);
  const step = 1 + Math.floor(chance() * (run.accounts - 1));
  const accounts = chance() < 0.3 ? [first, (first + step) % run.accounts] : [first];
  return accounts.map((account) => ({
    account: nameOf(account),
    limit: run.limitOf(account, operation),
  }));
}

function nameOf(account: number): string {
  return `public 203.0.113.${account}`;
}

/** Reference model: a list that is searched completely on every operation. */
function createModel({ windowMs, maxAccounts = Number.POSITIVE_INFINITY }: Run) {
  const all: Unit[] = [];
  const lives = new Map<string, number>();
  let live: Unit[] = [];

  function unitsAt(nowMs: number): readonly Unit[] {
    live = live.filter(({ atMs, isBack }) => !isBack && nowMs - atMs < windowMs);
    return live;
  }

  /** Evicts the accounts that spent least recently, and starts new ones in their place. */
  function forgetSome(): void {
    const recent = [...new Set(live.map(({ account }) => account).reverse())];
    for (const account of recent.slice(maxAccounts)) {
      lives.set(account, (lives.get(account) ?? 0) + 1);
      live = live.filter((unit) => unit.account !== account);
    }
  }

  /** Returns the time until fewer than `limit` of the units are left. */
  function waitMs(units: readonly Unit[], limit: number, nowMs: number): number {
    const last = units[units.length - limit];
    return last === undefined ? 0 : last.atMs + windowMs - nowMs;
  }

  function spend(charges: readonly Charge[], nowMs: number) {
    const now = unitsAt(nowMs);
    const waits = charges.map(({ account, limit }) => {
      const own = now.filter((unit) => unit.account === account);
      return { account, waitMs: waitMs(own, limit, nowMs) };
    });
    const longest = waits.reduce((a, b) => (b.waitMs > a.waitMs ? b : a));
    if (longest.waitMs > 0) return { told: { ok: false, ...longest }, units: [] };
    const units = charges.map(({ account }) => {
      return { account, atMs: nowMs, life: lives.get(account) ?? 0, isBack: false };
    });
    all.push(...units);
    live.push(...units);
    forgetSome();
    return { told: { ok: true }, units };
  }

  function stateOf(name: string, nowMs: number): AccountState {
    const own = unitsAt(nowMs).filter(({ account }) => account === name);
    const [oldest] = own;
    return { spent: own.length, nextMs: oldest ? oldest.atMs + windowMs - nowMs : 0 };
  }

  return { all, spend, stateOf, unitsAt };
}

/** Random numbers that are the same in every run. */
function createChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    const mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
    return ((mixed ^ (mixed >>> 12)) >>> 0) / 2 ** 32;
  };
}
