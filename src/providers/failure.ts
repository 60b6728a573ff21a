import type { HttpFailure } from '../core/http/http-client.ts';
import type { Tombstone } from '../model/post.ts';
import type { PostFound, PostQuery } from '../model/queries.ts';
import { missingSentences } from '../platforms/missing.ts';
import { ProviderError } from '../platforms/provider-error.ts';
import type { ProviderContext } from './provider.ts';

export function toMissing(reason: Tombstone['reason']): ProviderError {
  return new ProviderError('missing', missingSentences[reason]);
}

export function createMalformed(cause?: unknown): ProviderError {
  const message = 'The source answered in a form that Perch does not understand.';
  return new ProviderError('malformed', message, { cause });
}

const unanswered = {
  timeout: 'The source did not answer in time.',
  aborted: 'The read was given up before the source answered.',
  connect: 'The source could not be reached.',
  reset: 'The source could not be reached.',
  // The same sentence whether the name does not exist or its address is not public, so that nobody can
  // ask Perch which names a private network has.
  refused: 'The server of this account could not be reached.',
} as const;

export function toProviderError(failure: HttpFailure): ProviderError {
  const { kind } = failure;
  if (kind === 'too_large' || kind === 'redirect') return createMalformed(failure);
  // A refused host was named by the caller, and the provider asks other hosts too.
  const isGeneral = kind !== 'refused';
  return new ProviderError('unavailable', unanswered[kind], { isGeneral, cause: failure });
}

/** Returns the error of a 429, 403 (CDNs refuse busy callers) or 5xx; `null` for others. */
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

/** Reports a throttle that the answer survives, so that its pause is kept. Other errors are ignored. */
export function tellThrottled({ onThrottled }: ProviderContext, error: unknown): void {
  if (error instanceof ProviderError && error.kind === 'throttled') onThrottled?.(error);
}

export async function orNull<Found>(read: Promise<Found>, context: ProviderContext) {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    tellThrottled(context, error);
    return null;
  }
}

/** Waits for a read that looks for a reason. Throws ProviderError `missing` only. */
export async function throwIfMissing(read: Promise<unknown>, context: ProviderContext) {
  try {
    await read;
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind === 'missing') throw error;
    tellThrottled(context, error);
  }
}

/** Waits for a result until a signal is aborted, and then throws the reason. */
export function untilAborted<Result>(
  result: Promise<Result>,
  signal: AbortSignal,
  reasonOf: () => unknown,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(reasonOf());
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

export const unreadParts = {
  thread: 'The rest of the thread could not be read.',
  replies: 'The replies could not be read.',
} as const;

export function listParts({ thread, replies }: PostQuery): PostFound['missing'] {
  const parts = ['thread', 'replies'] as const;
  return parts.filter((part) => (part === 'thread' ? thread : replies !== 'off'));
}
