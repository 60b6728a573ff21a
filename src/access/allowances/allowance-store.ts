/** One unit of an account's allowance, to be spent. */
export interface Charge {
  /** Name of the account. The charges of one call have different accounts. */
  readonly account: string;
  /** Units that the account has in a window, at least 1. It may differ from call to call. */
  readonly limit: number;
}

/**
 * Result of spending. `giveBack` refunds the units once. `account` is the exhausted one that recovers last, and
 * `waitMs`, at least 1, is the shortest wait after which the charges succeed if nobody else spends.
 */
export type Spent =
  | { readonly ok: true; giveBack(): void }
  | { readonly ok: false; readonly account: string; readonly waitMs: number };

/** Units that an account has spent within the window. */
export interface AccountState {
  readonly spent: number;
  /** Whole milliseconds until there is one more unit to spend; 0 if none is spent. */
  readonly nextMs: number;
}

/**
 * Counts the units that accounts spend. A unit counts for exactly one window from the time it was spent. So no window,
 * wherever it begins, has more units of an account than its limit, as long as the store remembers the account.
 */
export interface AllowanceStore {
  /**
   * Spends one unit of each account, or none at all. Asynchronous, so that servers can share a store. Overlapping calls
   * never take the same unit.
   */
  spend(charges: readonly Charge[]): Promise<Spent>;
  /**
   * Returns what this server knows of an account now. Synchronous and cheap, because every reply shows it.
   *
   * @param limit Given if it may be below what is spent; then several units have to come back first.
   */
  stateOf(account: string, limit?: number): AccountState;
}
