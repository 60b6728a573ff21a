import { LRUCache } from 'lru-cache';
import { type Clock, createSteadyClock } from '../lib/clock.ts';

/** Request to spend one unit of a rate-limit account. */
export interface Charge {
  /** Account name, such as a client address; different for all charges in one call of `spend`. */
  readonly account: string;
  /** Maximum number of units per time window, at least 1. Can differ between calls. */
  readonly limit: number;
  readonly windowMs: number;
  /** Number of units that the end of a window returns (default: all), to allow bursts of `limit`. */
  readonly regained?: number;
}

/** Units to refund (later calls do nothing), or the exhausted charge with the longest wait. */
export type Spent<One extends Charge = Charge> =
  | { readonly ok: true; refund(): void }
  | Refused<One>;

type Refused<One> = Readonly<{ ok: false; charge: One; waitMs: number }>;

/** Number of spent units, and time until the window ends; the whole window if none is spent. */
export type AccountState = Readonly<{ spent: number; resetMs: number }>;

/** Counts units in windows that start with the first unit. Forgotten accounts start again. */
export interface RateLimiter {
  /** Spends a unit of each account, or none. Concurrent calls never exceed a limit. */
  spend<One extends Charge>(charges: readonly One[]): Promise<Spent<One>>;
  stateOf(charge: Charge): AccountState;
  /** Loads states if those of `stateOf` might be over a second old; otherwise returns `null`. */
  refresh?(charges: readonly Charge[]): Promise<void> | null;
}

export const maxAccounts = 100_000;

export const allUnits = Number.MAX_SAFE_INTEGER;

/** Creates a cache of accounts. `max` would allocate its memory at the start, which takes 60 ms. */
export const createAccountCache = <Value extends object>(maxSize: number) =>
  new LRUCache<string, Value>({ maxSize, sizeCalculation: () => 1 });

type Window = { startMs: number; spent: number };

type RateLimiterOptions = Readonly<{ clock: Pick<Clock, 'now'>; maxSize?: number }>;

/** Creates a rate limiter in memory. When full, it forgets the account that spent least recently. */
export function createRateLimiter({
  clock,
  maxSize = maxAccounts,
}: RateLimiterOptions): RateLimiter {
  const { now } = createSteadyClock(clock);
  const windows = createAccountCache<Window>(maxSize);
  const currentOf = (charge: Charge, nowMs: number): Window | undefined => {
    const window = windows.peek(charge.account);
    if (window === undefined) return undefined;
    const { windowMs, regained = allUnits } = charge;
    const ended = Math.floor((nowMs - window.startMs + toleranceMs) / windowMs);
    window.spent -= ended * regained;
    window.startMs += ended * windowMs;
    return window.spent > 0 ? window : undefined;
  };
  return {
    spend: async (charges) => {
      const nowMs = now();
      const found = charges.map((charge) => currentOf(charge, nowMs));
      const refused = findLongestWait(charges, found, nowMs);
      if (refused !== null) return refused;
      let spent = charges.map(({ account }, at) => {
        const window = found[at] ?? { startMs: nowMs, spent: 0 };
        window.spent += 1;
        windows.set(account, window);
        return window;
      });
      const refund = () => {
        // The object of a window that has ended counts no longer.
        for (const window of spent) window.spent -= 1;
        spent = [];
      };
      return { ok: true, refund };
    },
    stateOf: (charge) => {
      const nowMs = now();
      const window = currentOf(charge, nowMs);
      if (window === undefined) return { spent: 0, resetMs: charge.windowMs };
      return { spent: window.spent, resetMs: window.startMs + charge.windowMs - nowMs };
    },
  };
}

function findLongestWait<One extends Charge>(
  charges: readonly One[],
  found: readonly (Window | undefined)[],
  nowMs: number,
): Refused<One> | null {
  let longest: Refused<One> | null = null;
  for (const [at, charge] of charges.entries()) {
    const window = found[at];
    if (window === undefined || window.spent < charge.limit) continue;
    const waitMs = window.startMs + charge.windowMs - nowMs;
    if (longest === null || waitMs > longest.waitMs) longest = { ok: false, charge, waitMs };
  }
  return longest;
}

/** Tolerance, because the start of a window that lasts fractions of a millisecond is rounded. */
const toleranceMs = 0.001;
