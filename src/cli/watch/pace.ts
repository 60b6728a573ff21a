import type { Config } from '../../config/config.ts';
import type { Random } from '../../core/random.ts';
import type { Item } from './memory.ts';

/** Minimum interval in milliseconds between two polls of a list, if `--every` is not used. */
export const minAdaptiveMs = 60_000;

/** Maximum interval in milliseconds between two polls of a list, if `--every` is not used. */
export const maxAdaptiveMs = 900_000;

const share = 0.1;

/**
 * Maximum wait in milliseconds after an error, before jitter is added. Also limits longer waits that a platform or
 * webhook requests.
 */
const maxBackoffMs = 3_600_000;

/**
 * Returns the minimum interval in milliseconds between two polls of a list, for `lists` watched lists. With this
 * interval, all polls together stay within the rate limit that Perch sets for callers without an API key.
 */
export function toMinIntervalMs(config: Config, lists: number): number {
  const { PERCH_ALLOWANCE_WINDOW_SECONDS: window, PERCH_PUBLIC_ALLOWANCE: allowance } = config;
  return Math.ceil((1000 * window * lists) / allowance);
}

/**
 * Returns the time in milliseconds until the next poll of a list, from 1 to 15 minutes. The time is a tenth of the
 * shorter of two durations: the median time between two posts, and the time since the newest post.
 */
export function adaptiveIntervalMs(latest: readonly Item[], nowMs: number): number {
  const times = latest.flatMap(({ seconds }) => (seconds === null ? [] : [seconds]));
  const sorted = times.toSorted((a, b) => b - a);
  const gaps = sorted.slice(1).map((time, index) => (sorted[index] ?? time) - time);
  const [newest = Number.NEGATIVE_INFINITY] = sorted;
  const age = nowMs / 1000 - newest;
  const usual = median(gaps) ?? Number.POSITIVE_INFINITY;
  const ms = 1000 * share * Math.min(usual, age);
  return Math.min(Math.max(ms, minAdaptiveMs), maxAdaptiveMs);
}

function median(numbers: readonly number[]): number | undefined {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

interface Backoff {
  /** Number of consecutive failures: 1 after the first failure. */
  readonly failures: number;
  readonly firstMs: number;
  readonly maxMs: number;
  /** Minimum wait in seconds that the platform or webhook requests; `undefined` without such a request. */
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * Returns the wait in milliseconds after `failures` consecutive failures. The wait grows exponentially from
 * `firstMs` to `maxMs`. A longer `retryAfterSeconds` replaces it, up to `maxBackoffMs`. Up to 25 percent of random
 * jitter is added, even above `maxBackoffMs`.
 */
export function backoffMs(
  { failures, firstMs, maxMs, retryAfterSeconds = 0 }: Backoff,
  random: Random,
): number {
  const exponential = Math.min(firstMs * 2 ** Math.min(failures - 1, 30), maxMs);
  const ms = Math.min(Math.max(exponential, 1000 * retryAfterSeconds), maxBackoffMs);
  return Math.ceil(ms * (1 + 0.25 * random.fraction()));
}
