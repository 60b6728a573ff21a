/**
 * Why a provider did not answer. `missing`: confirmed gone or not public; `ambiguous`: an outage looks
 * the same; `rejected`: the search text is not accepted; `malformed`: it breaks the provider's contract.
 */
export type ProviderErrorKind =
  | 'missing'
  | 'ambiguous'
  | 'rejected'
  | 'throttled'
  | 'unavailable'
  | 'malformed';

export interface ProviderErrorOptions {
  /** Seconds that the upstream asks to wait, for `throttled`. */
  readonly retryAfterSeconds?: number | undefined;
  /** Whether an `ambiguous` miss speaks for absence at all; default true. */
  readonly isWitness?: boolean;
  /** Whether the provider fails, rather than one subject or one host of it; default true. */
  readonly isGeneral?: boolean;
  readonly cause?: unknown;
}

/** A provider's view of a failure. The message is a sentence for callers, without internals. */
export class ProviderError extends Error {
  readonly kind: ProviderErrorKind;
  readonly retryAfterSeconds: number | undefined;
  readonly isWitness: boolean;
  readonly isGeneral: boolean;

  constructor(kind: ProviderErrorKind, message: string, options: ProviderErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'ProviderError';
    this.kind = kind;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isWitness = options.isWitness ?? true;
    this.isGeneral = options.isGeneral ?? true;
  }
}
