/** Request to spend one unit of a rate-limit account. An account counts the units of one caller or group of callers. */
export interface Charge {
  /** Name of the account, such as a client address. All charges in one call of `spend` must name different accounts. */
  readonly account: string;
  /** Maximum number of units that the account may spend in a time window, at least 1. May differ between calls. */
  readonly limit: number;
}

/**
 * Result of `spend`. If `ok` is true, the first call of `refund` refunds the spent units. Otherwise, `account` is the
 * exhausted account with the longest wait, and `waitMs` is this wait in milliseconds (at least 1).
 */
export type Spent =
  | { readonly ok: true; refund(): void }
  | { readonly ok: false; readonly account: string; readonly waitMs: number };

/** Number of spent units that have not expired, and milliseconds until the next one expires (0 if there are none). */
export type AccountState = Readonly<{ spent: number; nextMs: number }>;

/**
 * Sliding-window rate limiter. Each spent unit counts for the length of one window, so that no account can exceed its
 * limit in a period of that length. An account that the store has evicted starts again with no spent units.
 */
export interface AllowanceStore {
  /** Spends one unit of each account, or no unit if any account is exhausted. Concurrent calls never exceed a limit. */
  spend(charges: readonly Charge[]): Promise<Spent>;
  /**
   * Returns the state of an account. Must be fast, because every response contains the state. If the account has spent
   * `limit` or more units, `nextMs` is the time until it can spend a unit again.
   */
  stateOf(account: string, limit?: number): AccountState;
  /**
   * Loads the states of accounts if `stateOf` might return states older than one second. Otherwise returns `null`.
   * The store of a single instance has no such method.
   */
  refresh?(charges: readonly Charge[]): Promise<void> | null;
}
