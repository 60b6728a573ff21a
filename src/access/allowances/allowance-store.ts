/** Request to spend one unit of an account's allowance. */
export interface Charge {
  /** Name of the account. All charges of one call have different accounts. */
  readonly account: string;
  /** Maximum number of units in a window, at least 1. May differ from call to call. */
  readonly limit: number;
}

/**
 * Result of spending. `refund` refunds the units; later calls do nothing. `account` is the exhausted account with the
 * longest wait, and `waitMs` (at least 1) is the time after which the charges succeed if no other call spends.
 */
export type Spent =
  | { readonly ok: true; refund(): void }
  | { readonly ok: false; readonly account: string; readonly waitMs: number };

/** `nextMs`: whole milliseconds until one more unit can be spent; 0 if no unit is spent. */
export type AccountState = Readonly<{ spent: number; nextMs: number }>;

/**
 * Sliding-window rate limiter. A unit counts for exactly one window from the time it was spent, so an account never
 * spends more units than its limit within any period of that length, as long as the store remembers the account.
 */
export interface AllowanceStore {
  /** Spends one unit of each account, or none. Concurrent calls never spend the same unit. */
  spend(charges: readonly Charge[]): Promise<Spent>;
  /**
   * Returns the state of an account, as known to this server. Synchronous and cheap, because every reply contains it.
   * Pass `limit` if more units than that may have been spent; then several units must expire first.
   */
  stateOf(account: string, limit?: number): AccountState;
}
