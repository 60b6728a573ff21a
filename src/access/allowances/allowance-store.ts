/** Request to spend one unit of a rate-limit account. A read from the cache costs none. */
export interface Charge {
  /** Account name, such as a client address; different for all charges in one call of `spend`. */
  readonly account: string;
  /** Maximum number of units per time window, at least 1. Can differ between calls. */
  readonly limit: number;
}

/** Units to refund (later calls do nothing), or the exhausted account with the longest wait. */
export type Spent =
  | { readonly ok: true; refund(): void }
  | { readonly ok: false; readonly account: string; readonly waitMs: number };

/** Number of unexpired spent units, and milliseconds until the next one expires (0 if none). */
export type AccountState = Readonly<{ spent: number; nextMs: number }>;

/** Sliding-window rate limiter. An evicted account starts again without spent units. */
export interface AllowanceStore {
  /** Spends a unit of each account, or none. Concurrent calls never exceed a limit. */
  spend(charges: readonly Charge[]): Promise<Spent>;
  /** Returns the state. From `limit` spent units on, `nextMs` is the wait for the next unit. */
  stateOf(account: string, limit?: number): AccountState;
  /** Loads states if those of `stateOf` might be over a second old; otherwise returns `null`. */
  refresh?(charges: readonly Charge[]): Promise<void> | null;
}
