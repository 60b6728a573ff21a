import { ConnectionError, DeadlineError, ProblemError, ResponseError } from './errors.ts';
import type { Clock } from './options.ts';

/**
 * HTTP statuses of proxies that are overloaded or cannot reach the server. Perch itself sends these
 * statuses only with a problem document.
 */
const proxyStatuses: readonly number[] = [429, 502, 503, 504];

/**
 * Returns whether another attempt may succeed: after a connection error, an error 429 or 503 of
 * Perch, or a status of `proxyStatuses`.
 */
function isRetryable(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (error instanceof ProblemError) return error.status === 429 || error.status === 503;
  return error instanceof ResponseError && proxyStatuses.includes(error.status);
}

/**
 * Base of the exponential backoff in milliseconds, for errors without `Retry-After`. The wait
 * before the first retry is 50% to 100% of this time. The time doubles for each further retry.
 */
const firstWaitMs = 500;
const maxWaitMs = 8000;
/** Maximum wait before a stream is opened again, in milliseconds. */
const maxStreamWaitMs = 60_000;
/**
 * Maximum random time in milliseconds that is added to the time in `Retry-After`, so that clients
 * do not return all at once.
 */
const spreadMs = 500;

/**
 * Returns the milliseconds to wait before retry number `retry`, counted from 0. `random`: number
 * from 0 to 1 that varies the wait.
 */
function waitBefore(retry: number, error: unknown, random: number): number {
  const isAnswer = error instanceof ProblemError || error instanceof ResponseError;
  const askedMs = isAnswer ? error.retryAfterMs : undefined;
  if (askedMs !== undefined) return askedMs + random * spreadMs;
  const waitMs = Math.min(maxWaitMs, firstWaitMs * 2 ** retry);
  return waitMs * (0.5 + random / 2);
}

/** Parses `Retry-After`: seconds or an HTTP date. Returns milliseconds, or `undefined` if the value is not valid. */
export function parseRetryAfter(value: string | null, nowMs: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** Maximum number of consecutive retries. If the last retry fails too, its error is thrown. */
  readonly retries: number;
  /**
   * Deadline in milliseconds since the Unix epoch. If a wait before a retry would end after the
   * deadline, an error is thrown instead. Default: a minute from now.
   */
  readonly endMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits before the next attempt. Does not wait if `failures`, the number of consecutive failures, is 0.
 * @throws `error` if another attempt cannot succeed, or if `failures` exceeds `retries`. Also throws if the wait
 * would not end before the deadline: a DeadlineError if `error` is a ConnectionError, otherwise `error`
 */
export async function waitOrThrow(
  error: unknown,
  failures: number,
  { clock, random, retries, endMs = clock.now() + maxStreamWaitMs, signal }: RetryOptions,
): Promise<void> {
  if (failures > retries || !isRetryable(error)) throw error;
  const waitMs = failures === 0 ? 0 : waitBefore(failures - 1, error, random());
  if (clock.now() + waitMs < endMs) return clock.sleep(waitMs, signal);
  throw error instanceof ConnectionError ? new DeadlineError(error) : error;
}

/** Runs `attempt` until it succeeds. @throws the last error, or DeadlineError if the server did not answer in time */
export async function retry<Result>(
  attempt: () => Promise<Result>,
  options: RetryOptions,
): Promise<Result> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      await waitOrThrow(error, failures, options);
    }
  }
}
