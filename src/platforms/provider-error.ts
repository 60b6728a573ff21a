/**
 * Reason of a provider's failure. `missing`: the subject does not exist or is not public; `ambiguous`: `missing` or an
 * outage; `rejected`: the search text is not accepted; `malformed`: the response has an unexpected form.
 */
export type ProviderErrorKind =
  | 'missing'
  | 'ambiguous'
  | 'rejected'
  | 'throttled'
  | 'unavailable'
  | 'malformed';

export interface ProviderErrorOptions {
  /** For `throttled`: number of seconds to wait before the next request, as required by the upstream. */
  readonly retryAfterSeconds?: number | undefined;
  /** Whether an `ambiguous` response counts as evidence that the subject does not exist; default `true`. */
  readonly isEvidence?: boolean;
  /** Whether the whole provider fails, rather than one subject or one host; default `true`. */
  readonly isProviderWide?: boolean;
  readonly cause?: unknown;
}

/** Failure of a provider. The message is a sentence for callers, without internal details. */
export class ProviderError extends Error {
  readonly kind: ProviderErrorKind;
  readonly retryAfterSeconds: number | undefined;
  readonly isEvidence: boolean;
  readonly isProviderWide: boolean;

  constructor(kind: ProviderErrorKind, message: string, options: ProviderErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'ProviderError';
    this.kind = kind;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isEvidence = options.isEvidence ?? true;
    this.isProviderWide = options.isProviderWide ?? true;
  }
}
