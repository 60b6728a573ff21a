/**
 * Request to spend one unit of a rate-limit account, which counts the units of one caller or of a group of callers.
 * A read costs one unit, unless Perch answers it from its cache.
 */
export interface Charge {
  /**
   * Name of the rate-limit account to charge, such as a client address. All charges in one call of `spend` must have
   * different accounts.
   */
  readonly account: string;
  /**
   * Maximum number of units (requests) that the account may spend per time window, at least 1. Calls for the same
   * account can pass different limits.
   */
  readonly limit: number;
}

/**
 * Result of `spend`. If `ok` is true, `refund` gives the spent units back to the accounts; later calls do nothing.
 * If `ok` is false, `account` is the exhausted account with the longest wait, and `waitMs` is this wait in
 * milliseconds (at least 1).
 */
export type Spent =
  | { readonly ok: true; refund(): void }
  | { readonly ok: false; readonly account: string; readonly waitMs: number };

/**
 * State of a rate-limit account: number of spent units that have not expired, and milliseconds
 * until the next spent unit expires (0 if no unit is spent).
 */
export type AccountState = Readonly<{ spent: number; nextMs: number }>;

/**
 * Sliding-window rate limiter. Each spent unit counts for one window length, so that no account can exceed its limit
 * within any period of that length. An account that was evicted from the store starts again without spent units.
 */
export interface AllowanceStore {
  /**
   * Spends one unit of each rate-limit account in `charges`. If any of these accounts is exhausted,
   * spends none. Concurrent calls never exceed a limit.
   */
  spend(charges: readonly Charge[]): Promise<Spent>;
  /**
   * Returns the number of units that a rate-limit account has spent in the current time window, and the time until
   * the next of them expires. If the account has spent `limit` or more units, `nextMs` is instead the time in
   * milliseconds until the account can spend a unit again. Must be fast, because every response includes the state.
   */
  stateOf(account: string, limit?: number): AccountState;
  /**
   * Loads the states of rate-limit accounts if `stateOf` might return states that are more than one second old.
   * Otherwise returns `null`. The in-memory store does not have this method, because its states are always current.
   */
  refresh?(charges: readonly Charge[]): Promise<void> | null;
}
