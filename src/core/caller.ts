/** Result of checking the bearer key of a request. `unverified`: the key store could not be read. */
export type KeyStatus = 'valid' | 'anonymous' | 'invalid' | 'unverified';

/** Names under which the server counts a client's use of shared resources. */
export interface Client {
  /** The client address, or a keyed hash of it. */
  readonly address: string;
  /** The IPv6 /48 around the address, in the same form; `null` for IPv4. */
  readonly network: string | null;
}

export type PoolShare = 'anonymous' | 'keyed';

export interface SpentUnit {
  /** Returns the unit to the caller's allowance. Calls after the first one do nothing. */
  refund(): void;
}

export interface Caller {
  readonly share: PoolShare;
  /** Spends a unit of the caller's allowance, or throws Problem `rate_limited`. */
  spend(): Promise<SpentUnit>;
}

/** Upstream requests that all callers share. */
export interface Pool {
  /** Charges one request to the pool. `history` is the client if a history is read. Throws Problem `rate_limited`. */
  take(share: PoolShare, history?: Client | undefined): Promise<void>;
}
