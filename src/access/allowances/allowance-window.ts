import { LRUCache } from 'lru-cache';
import { type Clock, createSteadyClock } from '../../core/clock.ts';
import type { AccountState, AllowanceStore, Charge, Spent } from './allowance-store.ts';

type AllowanceWindowOptions = Readonly<{ windowMs: number; clock: Clock; maxAccounts?: number }>;

type Log = Readonly<{ times: number[] }>;

const maxBytes = 64 * 1024 * 1024;

/** Maximum number of units per account and window, so that their times fit into `maxBytes`. */
const maxUnits = 2 ** 20;

const noWait = { account: '', waitMs: 0 };

const maxRemoved = 100;

/** In-memory rate limiter. When full, evicts the longest unused account (docs/decisions/0065). */
export class AllowanceWindow implements AllowanceStore {
  readonly #windowMs: number;
  readonly #readMs: () => number;
  readonly #maxAccounts: number;
  /** Times of spent units by account, the last spender first. Reads do not change the order. */
  readonly #logs: LRUCache<string, Log>;

  constructor({ windowMs, clock, maxAccounts = 100_000 }: AllowanceWindowOptions) {
    this.#windowMs = windowMs;
    this.#readMs = createSteadyClock(clock).now;
    this.#maxAccounts = maxAccounts;
    // `max` would allocate memory for all accounts at the start, which takes 30 ms.
    this.#logs = new LRUCache({ maxSize: maxBytes, sizeCalculation: estimateBytes });
  }

  // Nothing is awaited between the check and the writes, so concurrent calls never spend the same
  // unit.
  spend(charges: readonly Charge[]): Promise<Spent> {
    const nowMs = this.#startCall();
    const waits = charges.map(({ account, limit }) => {
      const most = Math.min(limit, maxUnits);
      const { spent, nextMs } = this.#stateAt(nowMs, account, most);
      return { account, waitMs: spent < most ? 0 : nextMs };
    });
    const longest = waits.reduce((a, b) => (b.waitMs > a.waitMs ? b : a), noWait);
    if (longest.waitMs > 0) return Promise.resolve({ ok: false, ...longest });
    // All logs are looked up first, because writing one may evict another.
    let units = charges.map(({ account }) => ({ account, times: this.#timesOf(account) }));
    for (const { account, times } of units) {
      times.push(nowMs);
      // The cache recalculates the size of an entry only if its value is a new object.
      this.#logs.set(account, { times });
      if (this.#logs.size > this.#maxAccounts) this.#logs.pop();
    }
    const refund = () => {
      for (const { account, times } of units) this.#remove(account, times, nowMs);
      units = [];
    };
    return Promise.resolve({ ok: true, refund });
  }

  stateOf(account: string, limit = maxUnits): AccountState {
    return this.#stateAt(this.#startCall(), account, limit);
  }

  /** Returns the time in milliseconds. Removes up to `maxRemoved` accounts without spent units. */
  #startCall(): number {
    const nowMs = this.#readMs();
    for (let removed = 0; removed < maxRemoved; removed += 1) {
      const [oldest] = this.#logs.rvalues();
      if (oldest === undefined || this.#expire(oldest.times, nowMs).length > 0) break;
      this.#logs.pop();
    }
    return nowMs;
  }

  #stateAt(nowMs: number, account: string, limit: number): AccountState {
    const times = this.#expire(this.#timesOf(account), nowMs);
    const next = times[Math.max(0, times.length - limit)];
    const nextMs = next === undefined ? 0 : Math.ceil(next + this.#windowMs - nowMs);
    return { spent: times.length, nextMs };
  }

  #timesOf(account: string): number[] {
    return this.#logs.peek(account)?.times ?? [];
  }

  #expire(times: number[], nowMs: number): number[] {
    const first = times.findIndex((timeMs) => timeMs + this.#windowMs > nowMs);
    if (first !== 0) times.splice(0, first === -1 ? times.length : first);
    return times;
  }

  /** Refunds the unit spent at `timeMs`, unless it has already expired. */
  #remove(account: string, times: number[], timeMs: number): void {
    const index = times.lastIndexOf(timeMs);
    if (index !== -1) times.splice(index, 1);
    // The next call removes the last entry, because `delete` would then clear the cache's tables of
    // 100,000 rows.
    if (times.length > 0 || this.#logs.size === 1) return;
    if (this.#logs.peek(account)?.times === times) this.#logs.delete(account);
  }
}

function estimateBytes({ times }: Log, account: string): number {
  return 450 + account.length + 16 * times.length;
}
