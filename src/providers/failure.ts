import type { HttpFailure } from '../core/http/http-client.ts';
import type { Tombstone } from '../model/post.ts';
import { missingSentences } from '../platforms/missing.ts';
import { ProviderError } from '../platforms/provider-error.ts';

/** Gives the failure to read a post that is confirmed not to be shown. */
export function toMissing(reason: Tombstone['reason']): ProviderError {
  return new ProviderError('missing', missingSentences[reason]);
}

/** Gives the failure to understand an answer. */
export function createMalformed(cause?: unknown): ProviderError {
  const message = 'The source answered in a form that Perch does not understand.';
  return new ProviderError('malformed', message, { cause });
}

/**
 * Gives the failure to reach a server that a caller has named. It is the same whether the name does not
 * exist or stands for an address that is not public, so that nobody can ask Perch which names a private
 * network has; and it says nothing of the provider, which asks other servers too.
 */
function createUnreachable(cause: HttpFailure): ProviderError {
  const message = 'The server of this account could not be reached.';
  return new ProviderError('unavailable', message, { isGeneral: false, cause });
}

const unansweredSentences = {
  timeout: 'The source did not answer in time.',
  aborted: 'The read was given up before the source answered.',
  connect: 'The source could not be reached.',
  reset: 'The source could not be reached.',
} as const;

/** Gives what it means for a read that a request got no usable answer. */
export function toProviderError(failure: HttpFailure): ProviderError {
  switch (failure.kind) {
    case 'timeout':
    case 'aborted':
    case 'connect':
    case 'reset':
      return new ProviderError('unavailable', unansweredSentences[failure.kind], {
        cause: failure,
      });
    case 'refused':
      return createUnreachable(failure);
    case 'too_large':
    case 'redirect':
      return createMalformed(failure);
  }
}

/**
 * Gives the failure that a status means whatever the body says: 429, 403 (how CDNs refuse a busy
 * caller) and 5xx. Null for a status that the provider has to read by its upstream's own rules; one
 * whose upstream means something else by 403 looks at that first.
 */
export function toStatusFailure(
  status: number,
  retryAfterSeconds: number | undefined,
): ProviderError | null {
  if (status === 403 || status === 429) {
    const message = 'The source asks for fewer requests.';
    return new ProviderError('throttled', message, { retryAfterSeconds });
  }
  if (status < 500) return null;
  return new ProviderError('unavailable', 'The source is failing at the moment.');
}
