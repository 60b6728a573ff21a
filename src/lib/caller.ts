/** Result of a key check: `anonymous` without a key, `unverified` if the store is unreadable. */
export type KeyStatus = 'valid' | 'anonymous' | 'invalid' | 'unverified';

/** Address and network of a client, each of which may use only limited resources. */
export interface Client {
  /** IPv4 address, or first 64 bits of IPv6; in the session service, a keyed hash of it. */
  readonly address: string;
  /** The /48 of an IPv6 address; `null` for IPv4. In the session service, a keyed hash of it. */
  readonly network: string | null;
}

export type PoolShare = 'anonymous' | 'keyed';

export interface SpentUnit {
  /** Refunds the spent unit to the caller's allowance (read quota). Later calls do nothing. */
  refund(): void;
}

export interface Caller {
  readonly share: PoolShare;
  /** Spends a unit of the caller's allowance. Throws Problem `rate_limited` if none is left. */
  spend(): Promise<SpentUnit>;
}

/** Limit on upstream requests, shared by all callers. */
export interface Pool {
  /** Counts a request (`history`: client of a history read). Throws Problem `rate_limited`. */
  take(share: PoolShare, history?: Client | undefined): Promise<void>;
}
