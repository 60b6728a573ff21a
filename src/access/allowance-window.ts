import type { Clock } from '../core/clock.ts';
import type { Random } from '../core/random.ts';
import { noRow } from './allowance-accounts.ts';
import { type AccountId, createAccountHash, seedBytes } from './allowance-hash.ts';
import { type Unit, UnitLedger } from './allowance-ledger.ts';
import type { AccountState, AllowanceStore, Charge, Spent } from './allowance-store.ts';

/** An allowance store in the memory of one process. */
export interface AllowanceWindow extends AllowanceStore {
  /** Bytes of all arrays that hold units and accounts. */
  readonly bytes: number;
  /** Units that are spent now. */
  readonly units: number;
}

/** How long units are spent, and how many at most. */
export interface AllowanceWindowOptions {
  readonly windowMs: number;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * The most units of all accounts that can be spent at once, at least those of one call; beyond it every spend has to
   * wait. 2^20 by default.
   */
  readonly maxUnits?: number;
}

/** More than 17,000 units a second for a minute, which is beyond what a process reads. */
const defaultMaxUnits = 2 ** 20;

/** The slots that one call looks at for what has expired: some 10 µs, and far more than one call adds. */
const sweep = 256;

const nothingSpent: AccountState = Object.freeze({ spent: 0, nextMs: 0 });

/**
 * Creates a store that keeps every unit with its instant, in typed arrays: 44 to 52 bytes for a unit that is its
 * account's only one, 16 for any other. Accounts are known by 64 bits of a hash with a secret; two accounts with the
 * same would share their allowance, which happens once in 2^64 pairs. When the clock is set back, time goes on from
 * where it was.
 */
export function createAllowanceWindow(options: AllowanceWindowOptions): AllowanceWindow {
  return new MemoryWindow(options);
}

class MemoryWindow implements AllowanceWindow {
  readonly #windowMs: number;
  readonly #maxUnits: number;
  readonly #readMs: () => number;
  readonly #toId: (name: string) => AccountId;
  readonly #ledger = new UnitLedger();

  constructor({ windowMs, clock, random, maxUnits = defaultMaxUnits }: AllowanceWindowOptions) {
    this.#windowMs = windowMs;
    this.#maxUnits = maxUnits;
    this.#readMs = createSteadyTime(clock);
    this.#toId = createAccountHash(random.bytes(seedBytes));
  }

  get bytes(): number {
    return this.#ledger.bytes;
  }

  get units(): number {
    this.#ledger.expire(this.#readMs() - this.#windowMs, Number.POSITIVE_INFINITY);
    return this.#ledger.units;
  }

  // Nothing is awaited before the units are written, so calls that overlap see each other's.
  spend(charges: readonly Charge[]): Promise<Spent> {
    const nowMs = this.#startCall();
    const ids = charges.map(({ account }) => this.#toId(account));
    const refusal = this.#refusalOf(charges, ids, nowMs);
    if (refusal !== null) return Promise.resolve(refusal);
    let units = ids.map((id) => this.#ledger.add(id, nowMs));
    const giveBack = () => {
      this.#takeBack(units);
      units = [];
    };
    return Promise.resolve({ ok: true, giveBack });
  }

  stateOf(account: string, limit = Number.POSITIVE_INFINITY): AccountState {
    const nowMs = this.#startCall();
    const row = this.#ledger.find(this.#toId(account), nowMs - this.#windowMs);
    if (row === noRow) return nothingSpent;
    const spent = this.#ledger.countOf(row);
    const nextMs = this.#waitMs(this.#ledger.timeOf(row, Math.max(0, spent - limit)), nowMs);
    return { spent, nextMs };
  }

  #startCall(): number {
    const nowMs = this.#readMs();
    this.#ledger.expire(nowMs - this.#windowMs, sweep);
    return nowMs;
  }

  #refusalOf(charges: readonly Charge[], ids: readonly AccountId[], nowMs: number): Spent | null {
    let account = charges[0]?.account ?? '';
    let longestMs = this.#waitForRoom(charges.length, nowMs);
    for (const [index, charge] of charges.entries()) {
      // There is an id for every charge.
      const waitMs = this.#waitFor(ids[index] as AccountId, charge.limit, nowMs);
      if (waitMs <= longestMs) continue;
      account = charge.account;
      longestMs = waitMs;
    }
    return longestMs === 0 ? null : { ok: false, account, waitMs: longestMs };
  }

  #waitFor(id: AccountId, limit: number, nowMs: number): number {
    const row = this.#ledger.find(id, nowMs - this.#windowMs);
    // Where a limit was lowered, several units have to come back first.
    const excess = this.#ledger.countOf(row) - limit;
    return excess < 0 ? 0 : this.#waitMs(this.#ledger.timeOf(row, excess), nowMs);
  }

  #waitForRoom(units: number, nowMs: number): number {
    if (this.#ledger.units + units <= this.#maxUnits) return 0;
    this.#ledger.expire(nowMs - this.#windowMs, Number.POSITIVE_INFINITY);
    const excess = this.#ledger.units + units - this.#maxUnits;
    return excess <= 0 ? 0 : this.#waitMs(this.#ledger.timeOfAny(excess - 1), nowMs);
  }

  #takeBack(units: readonly Unit[]): void {
    const sinceMs = this.#startCall() - this.#windowMs;
    for (const unit of units) if (unit.timeMs > sinceMs) this.#ledger.remove(unit);
  }

  /** Gives how long it takes for a unit to come back. */
  #waitMs(timeMs: number, nowMs: number): number {
    return Math.ceil(timeMs + this.#windowMs - nowMs);
  }
}

/** Creates a reader of time that stands where the clock is set back, and runs on from there. */
function createSteadyTime(clock: Clock): () => number {
  let lastMs = clock.now();
  let offsetMs = 0;
  return () => {
    const nowMs = clock.now();
    if (nowMs < lastMs) offsetMs += lastMs - nowMs;
    lastMs = nowMs;
    return nowMs + offsetMs;
  };
}
