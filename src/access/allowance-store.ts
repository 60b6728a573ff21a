/** One unit of an account's allowance, to be spent. */
export interface Charge {
  /** The account's name; the charges of one call name different accounts. */
  readonly account: string;
  /** Units that the account has in a window, at least 1. It may differ from call to call. */
  readonly limit: number;
}

/** What came of spending. */
export type Spent =
  | {
      readonly ok: true;
      /** Gives the units back, once; later calls change nothing. */
      giveBack(): void;
    }
  | {
      readonly ok: false;
      /** The account that is exhausted; of several, the one that recovers last. */
      readonly account: string;
      /**
       * Whole milliseconds, at least 1, after which the same charges succeed if nobody else spends. One less does
       * not do.
       */
      readonly waitMs: number;
    };

/** What is known of an account. */
export interface AccountState {
  /** Units spent within the window. */
  readonly spent: number;
  /** Whole milliseconds until there is one more to spend; 0 where none is spent. */
  readonly nextMs: number;
}

/**
 * Counts what accounts spend. A unit spent at an instant counts for as long as the window, and is back exactly then:
 * no window, wherever it begins, holds more units of an account than its limit.
 */
export interface AllowanceStore {
  /**
   * Spends one unit of each account, or none of any. Asynchronous, so that a store which several servers share fits;
   * calls that overlap never take the same unit.
   */
  spend(charges: readonly Charge[]): Promise<Spent>;
  /**
   * Gives what this server knows of an account now; where more is spent than `limit`, because it was lowered, several
   * units have to come back first. Synchronous and cheap: it is asked on every reply.
   */
  stateOf(account: string, limit?: number): AccountState;
}
