/** Request to spend one unit of an account's rate limit (allowance). */
export interface Charge {
  /** Name of the account, such as a client address. All charges in one call of `spend` must name different accounts. */
  readonly account: string;
  /** Maximum number of units that the account may spend in a time window, at least 1. May differ between calls. */
  readonly limit: number;
}

/**
 * Result of `spend`. `refund` returns the spent units; later calls do nothing. `account` is the exhausted account with
 * the longest wait. After `waitMs` milliseconds (at least 1), `spend` succeeds unless others spend units.
 */
export type Spent =
  | { readonly ok: true; refund(): void }
  | { readonly ok: false; readonly account: string; readonly waitMs: number };

/** Number of unexpired spent units, and whole milliseconds until the account regains a unit (0 if `spent` is 0). */
export type AccountState = Readonly<{ spent: number; nextMs: number }>;

/**
 * Sliding-window rate limiter. A unit counts for exactly one window after it was spent. Within any period of that
 * length, an account therefore never spends more units than its limit, unless the store has evicted the account.
 */
export interface AllowanceStore {
  /** Spends one unit of each account, or no unit if any account is exhausted. Concurrent calls never share a unit. */
  spend(charges: readonly Charge[]): Promise<Spent>;
  /**
   * Returns the state of an account, as known to this server. Must be fast, because every reply contains the state.
   * Pass `limit` if the account may have spent more units than its limit. Several units must then expire first.
   */
  stateOf(account: string, limit?: number): AccountState;
}
