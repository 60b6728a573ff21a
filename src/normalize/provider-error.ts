import type { Unavailability } from './unavailable.ts';

export type ProviderErrorKind =
  | 'missing'
  /** Post or account that the provider did not find, although it may exist. */
  | 'ambiguous'
  /** Search text that the platform does not accept. */
  | 'rejected'
  /** Request that was rejected because a rate limit of the upstream server was exceeded. */
  | 'throttled'
  /** Data provider that does not answer or is failing. */
  | 'unavailable'
  /** Response that has an unexpected format. */
  | 'malformed';

export interface ProviderErrorOptions {
  /** Seconds to wait, as the upstream server demands. Set only for the kind `throttled`. */
  readonly retryAfterSeconds?: number | undefined;
  /** Whether `ambiguous` is evidence that the post or account does not exist; default `true`. */
  readonly isEvidence?: boolean;
  /** Whether all requests fail, not only for one post, account or host; default `true`. */
  readonly isProviderWide?: boolean;
  /**
   * Whether the source works but does not serve this read, so that the failure of another provider
   * says more; default `false`.
   */
  readonly isUnsupported?: boolean;
  /** Whether no connection was possible, for example because the name could not be resolved. */
  readonly isUnreachable?: boolean;
  /** Why a post is unavailable. Set only for errors of the kind `missing`, and only for posts. */
  readonly unavailable?: Unavailability;
  readonly cause?: unknown;
}

/** Failure whose message is a sentence for API clients, without internal details. */
export class ProviderError extends Error {
  readonly kind: ProviderErrorKind;
  readonly retryAfterSeconds: number | undefined;
  readonly isEvidence: boolean;
  readonly isProviderWide: boolean;
  readonly isUnsupported: boolean;
  readonly isUnreachable: boolean;
  readonly unavailable: Unavailability | undefined;

  constructor(kind: ProviderErrorKind, message: string, options: ProviderErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'ProviderError';
    this.kind = kind;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isEvidence = options.isEvidence ?? true;
    this.isProviderWide = options.isProviderWide ?? true;
    this.isUnsupported = options.isUnsupported ?? false;
    this.isUnreachable = options.isUnreachable ?? false;
    this.unavailable = options.unavailable;
  }
}
