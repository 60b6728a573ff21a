import type { Config } from '../../config/config.ts';
import type { Random } from '../../core/random.ts';
import type { Item } from './memory.ts';

/** Minimum interval in milliseconds between two polls of a list, if `--every` is not used. */
export const minAdaptiveMs = 60_000;

/** Maximum interval in milliseconds between two polls of a list, if `--every` is not used. */
export const maxAdaptiveMs = 900_000;

const share = 0.1;

/** Maximum wait in milliseconds before jitter. Also limits longer waits that are requested. */
const maxBackoffMs = 3_600_000;

/** Returns milliseconds that keep all polls in Perch's rate limit for callers without a key. */
export function toMinIntervalMs(config: Config, lists: number): number {
  const { PERCH_ALLOWANCE_WINDOW_SECONDS: window, PERCH_PUBLIC_ALLOWANCE: allowance } = config;
  return Math.ceil((1000 * window * lists) / allowance);
}

/** Returns a tenth of the shorter: median post interval or newest post's age (1 to 15 minutes). */
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
  /** Minimum wait that the platform or webhook requests. */
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * Returns the wait in milliseconds, growing exponentially from `firstMs` to `maxMs`. A longer
 * `retryAfterSeconds` replaces it, up to `maxBackoffMs`. Adds up to 25 percent of jitter, even
 * above `maxBackoffMs`.
 */
export function backoffMs(
  { failures, firstMs, maxMs, retryAfterSeconds = 0 }: Backoff,
  random: Random,
): number {
  const exponential = Math.min(firstMs * 2 ** Math.min(failures - 1, 30), maxMs);
  const ms = Math.min(Math.max(exponential, 1000 * retryAfterSeconds), maxBackoffMs);
  return Math.ceil(ms * (1 + 0.25 * random.fraction()));
}
