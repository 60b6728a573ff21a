/** What a presented key is worth for one request. */
export type KeyStatus = 'valid' | 'anonymous' | 'invalid' | 'unverified';

/** A client, by the names under which its share of common resources is counted. */
export interface Client {
  /** The client address, or a keyed hash of it. */
  readonly address: string;
  /** The IPv6 /48 around the address, in the same form; `null` for IPv4. */
  readonly network: string | null;
}

/** Which part of the pool of upstream requests somebody draws on. */
export type PoolShare = 'anonymous' | 'keyed';

/** A unit of an allowance that was spent. */
export interface Spending {
  /** Gives the unit back, once, as if it had not been spent. */
  giveBack(): void;
}

/** Who waits for an answer, and what it may cost. */
export interface Caller {
  readonly share: PoolShare;
  /**
   * Spends a unit of the caller's allowance.
   *
   * @throws Problem `rate_limited`
   */
  spend(): Promise<Spending>;
}

/** The upstream requests that all callers share. */
export interface Pool {
  /**
   * Takes one upstream request out of the pool.
   *
   * @param history The client of the history that the request is for; absent for other reads.
   * @throws Problem `rate_limited`
   */
  take(share: PoolShare, history?: Client | undefined): Promise<void>;
}
