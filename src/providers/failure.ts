import type { HttpFailure } from '../lib/http/http-client.ts';
import type { PostFound, PostQuery } from '../model/queries.ts';
import { ProviderError } from '../normalize/provider-error.ts';
import {
  toUnavailability,
  type Unavailability,
  type UnavailableReason,
} from '../normalize/unavailable.ts';
import type { ProviderContext } from './provider.ts';

/** Returns the error for a post that is unavailable for a reason that the source states. */
export function toMissing(why: Unavailability | UnavailableReason): ProviderError {
  const unavailable = typeof why === 'string' ? toUnavailability(why) : why;
  return new ProviderError('missing', unavailable.detail, { unavailable });
}

export function createMalformed(cause?: unknown): ProviderError {
  const message = 'The source sent a response that Perch cannot read.';
  return new ProviderError('malformed', message, { cause });
}

/** Sentences for the reasons why a source did not answer. */
export const unanswered = {
  timeout: 'The source did not answer in time.',
  aborted: 'The read was cancelled before the source answered.',
  connect: 'The source could not be reached.',
  reset: 'The source could not be reached.',
  // Missing names and private addresses have the same message, to hide the names of a private
  // network.
  refused: 'The server of this account could not be reached.',
  over_budget: 'The source sends more data for this read than this server receives for one read.',
} as const;

export function toProviderError(failure: HttpFailure): ProviderError {
  const { kind } = failure;
  if (kind === 'too_large' || kind === 'redirect') return createMalformed(failure);
  // The client chose the refused host, or the read. The provider may still reach other hosts, or
  // answer other reads.
  const isProviderWide = kind !== 'refused' && kind !== 'over_budget';
  const isUnreachable = isProviderWide && isUnconnected(failure);
  const options = { isProviderWide, isUnreachable, cause: failure };
  return new ProviderError('unavailable', unanswered[kind], options);
}

/** Codes of failures after connecting (https://undici.nodejs.org/#/docs/api/Errors). */
const connectedCode = /^(?:UND_ERR_SOCKET|ECONNRESET)$/;

function isUnconnected({ kind, cause }: HttpFailure): boolean {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (kind === 'timeout') return code === 'UND_ERR_CONNECT_TIMEOUT';
  return kind === 'connect' && !connectedCode.test(code);
}

/** Returns the error for 429, 403 (sent by some CDNs instead) or 5xx; `null` for other statuses. */
export function toStatusFailure(
  status: number,
  retryAfterSeconds: number | undefined,
): ProviderError | null {
  if (status === 403 || status === 429) {
    const message = 'The source limits the rate of requests.';
    return new ProviderError('throttled', message, { retryAfterSeconds });
  }
  if (status < 500) return null;
  const cause = new Error(`HTTP status ${status}`);
  return new ProviderError('unavailable', 'The source is failing at the moment.', { cause });
}

/** Reports a `throttled` error of an optional read, to pause the provider. Ignores others. */
export function reportThrottle({ onThrottled }: ProviderContext, error: unknown): void {
  if (error instanceof ProviderError && error.kind === 'throttled') onThrottled?.(error);
}

/** Returns the result of an optional read; `null` if the read fails with a ProviderError. */
export async function readOrNull<Found>(read: Promise<Found>, context: ProviderContext) {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    reportThrottle(context, error);
    return null;
  }
}

/** Waits for a read. Throws ProviderError `missing`, but ignores ProviderErrors of other kinds. */
export async function throwIfMissing(read: Promise<unknown>, context: ProviderContext) {
  try {
    await read;
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind === 'missing') throw error;
    reportThrottle(context, error);
  }
}

export const unreadParts = {
  thread: 'The rest of the thread could not be read.',
  replies: 'The replies could not be read.',
} as const;

/** Returns the requested parts other than the post: the thread, the replies, or both. */
export function wantedParts({ thread, replies }: PostQuery): PostFound['missing'] {
  const parts = ['thread', 'replies'] as const;
  return parts.filter((part) => (part === 'thread' ? thread : replies !== 'off'));
}
