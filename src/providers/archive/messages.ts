import type { Answers, QueryKind } from '../../model/queries.ts';
import { ProviderError, type ProviderErrorKind } from '../../normalize/provider-error.ts';
import type { Unavailability } from '../../normalize/unavailable.ts';

export interface ReaderOptions {
  readonly path: string;
  readonly sample: boolean;
  readonly baseUrl: string;
}

export interface ReadRequest {
  readonly kind: QueryKind;
  readonly query: Answers[QueryKind]['query'];
}

/** Message of a reader process: that it has opened the archive, or the reply to a request. */
export type ReaderMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'found'; readonly found: Answers[QueryKind]['found'] }
  | { readonly kind: 'failed'; readonly failure: Failure };

interface Failure {
  readonly message: string;
  /** Code of an error of SQLite or the file system. */
  readonly code: string | undefined;
  /** Members of a ProviderError; absent for other errors. */
  readonly provider?: {
    readonly kind: ProviderErrorKind;
    readonly isEvidence: boolean;
    readonly unavailable: Unavailability | undefined;
  };
}

export function toFailure(error: unknown): Failure {
  if (error instanceof ProviderError) {
    const { message, kind, isEvidence, unavailable } = error;
    return { message, code: undefined, provider: { kind, isEvidence, unavailable } };
  }
  if (!(error instanceof Error)) return { message: String(error), code: undefined };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return { message: error.message, code };
}

export function fromFailure({ message, code, provider }: Failure): Error {
  if (provider !== undefined) {
    const { kind, isEvidence, unavailable } = provider;
    return new ProviderError(kind, message, { isEvidence, ...(unavailable && { unavailable }) });
  }
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
