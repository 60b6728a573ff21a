import { ConnectionError, DeadlineError, ProblemError, ResponseError } from './errors.ts';
import type { Clock } from './options.ts';

/**
 * HTTP statuses of proxies that are overloaded or cannot reach the server. Perch itself sends these
 * statuses only with a problem document.
 */
const proxyStatuses: readonly number[] = [429, 502, 503, 504];

/** Returns whether another attempt may succeed: after connection errors, 429 and 503. */
function isRetryable(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (error instanceof ProblemError) return error.status === 429 || error.status === 503;
  return error instanceof ResponseError && proxyStatuses.includes(error.status);
}

/** Milliseconds before the first retry without `Retry-After`; doubled for each further retry. */
const firstWaitMs = 500;
const maxWaitMs = 8000;
/** Maximum wait before a stream is opened again, in milliseconds. */
const maxStreamWaitMs = 60_000;
/** Maximum random part of a wait after `Retry-After`, in milliseconds, so that clients do not return all at once. */
const spreadMs = 500;

/** Returns the milliseconds to wait before retry number `retry`, counted from 0. `random` is from 0 to 1. */
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
  /** Maximum number of consecutive failures before an error is thrown. */
  readonly retries: number;
  /**
   * Deadline in milliseconds since the Unix epoch. An error is thrown instead of a wait that would
   * end later. Default: a minute from now.
   */
  readonly endMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits before the next attempt. `failures` is the number of consecutive failures. If it is 0,
 * there is no wait.
 * @throws `error` if another attempt cannot succeed, or if there are more than `retries` failures.
 * If the wait would end after the deadline: a DeadlineError in place of a connection error,
 * otherwise `error`
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
