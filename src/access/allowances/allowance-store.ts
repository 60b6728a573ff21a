/** Request to spend one unit of an account's allowance. */
export interface Charge {
  /** Name of the account. All charges of one call have different accounts. */
  readonly account: string;
  /** Maximum number of units in a window, at least 1. May differ from call to call. */
  readonly limit: number;
}

/**
 * Result of `spend`. `refund` returns the units to the accounts; calling it again does nothing. `account` is the
 * exhausted account with the longest wait. After `waitMs` (at least 1), the charges succeed if no other call spends.
 */
export type Spent =
  | { readonly ok: true; refund(): void }
  | { readonly ok: false; readonly account: string; readonly waitMs: number };

/** Number of units that count as spent, and whole milliseconds until the account regains a unit; 0 if `spent` is 0. */
export type AccountState = Readonly<{ spent: number; nextMs: number }>;

/**
 * Sliding-window rate limiter. A unit counts for exactly one window from the time it was spent, so an account never
 * spends more units than its limit within any period of that length, as long as the store remembers the account.
 */
export interface AllowanceStore {
  /** Spends one unit of each account, or nothing if any is exhausted. Concurrent calls never spend the same unit. */
  spend(charges: readonly Charge[]): Promise<Spent>;
  /**
   * Returns the state of an account, as known to this server. It must be fast, because every reply contains the state.
   * Pass `limit` if the account may have spent more units than its limit; then several units must expire first.
   */
  stateOf(account: string, limit?: number): AccountState;
}
