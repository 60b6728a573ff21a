/**
 * Result of checking the API key of a request. `anonymous`: the request has no key. `unverified`:
 * the key store could not be read.
 */
export type KeyStatus = 'valid' | 'anonymous' | 'invalid' | 'unverified';

/** Address and network of a client. The server limits the resources that each address and each network may use. */
export interface Client {
  /** IPv4 address, or the first 64 bits of the IPv6 address. In the session service, a keyed hash of this value. */
  readonly address: string;
  /** The /48 network of an IPv6 address; `null` for IPv4. In the session service, a keyed hash of the network. */
  readonly network: string | null;
}

export type PoolShare = 'anonymous' | 'keyed';

export interface SpentUnit {
  /** Refunds the spent unit to the caller's allowance (read quota). Later calls do nothing. */
  refund(): void;
}

export interface Caller {
  readonly share: PoolShare;
  /** Spends a unit of the caller's allowance (read quota). Throws Problem `rate_limited` if no unit is left. */
  spend(): Promise<SpentUnit>;
}

/** Limit on upstream requests, shared by all callers. */
export interface Pool {
  /**
   * Counts an upstream request against the limit. `share`: `keyed` for a caller with an API key; otherwise `anonymous`,
   * to which a lower limit applies. `history`: client that reads an account's post history; `undefined` for all other
   * requests.
   * @throws Problem `rate_limited` if the limit is reached
   */
  take(share: PoolShare, history?: Client | undefined): Promise<void>;
}
