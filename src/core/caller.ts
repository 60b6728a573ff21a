/** Worth of a presented key for one request. */
export type KeyStatus = 'valid' | 'anonymous' | 'invalid' | 'unverified';

/** A client, by the names that its share of common resources is counted under. */
export interface Client {
  /** The client address, or a keyed hash of it. */
  readonly address: string;
  /** The IPv6 /48 around the address, in the same form; `null` for IPv4. */
  readonly network: string | null;
}

/** The part of the pool of upstream requests that a caller draws on. */
export type PoolShare = 'anonymous' | 'keyed';

/** A unit of an allowance that was spent. */
export interface Spending {
  /** Gives the unit back, once, as if it had not been spent. */
  giveBack(): void;
}

/** The party that waits for an answer. */
export interface Caller {
  readonly share: PoolShare;
  /** Spends a unit of the caller's allowance, or throws Problem `rate_limited`. */
  spend(): Promise<Spending>;
}

/** The upstream requests that all callers share. */
export interface Pool {
  /** Takes one request, for the history of a client or another read, or throws Problem `rate_limited`. */
  take(share: PoolShare, history?: Client | undefined): Promise<void>;
}
