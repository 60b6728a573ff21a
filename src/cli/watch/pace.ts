import type { Config } from '../../config/config.ts';
import type { Random } from '../../lib/random.ts';
import { UsageError } from '../command.ts';
import type { Item } from './poll.ts';

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
export function adaptiveIntervalMs(items: readonly Item[], nowMs: number): number {
  const times = items.flatMap(({ seconds }) => (seconds === null ? [] : [seconds]));
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

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses `90`, `90s`, `5m`, `1h` or `1d` to milliseconds. @throws UsageError if out of range */
export function parseDuration(
  text: string,
  { name, minMs, maxMs }: Readonly<{ name: string; minMs: number; maxMs: number }>,
): number {
  const [, digits = '', unit = 's'] = /^(\d{1,9})([smhd])?$/.exec(text) ?? [];
  const ms = digits === '' ? Number.NaN : Number(digits) * (unitMs[unit] ?? 0);
  if (ms >= minMs && ms <= maxMs) return ms;
  const range = `from ${formatDuration(minMs)} to ${formatDuration(maxMs)}`;
  throw new UsageError(
    `--${name} must be a duration ${range}, such as 90s or 5m, not ${JSON.stringify(text)}.`,
  );
}

/** Formats a duration evenly: `90s`, `5m`, `1h`, `1d`. Rounds up to seconds. */
export function formatDuration(ms: number): string {
  const whole = Math.ceil(ms / 1000) * 1000;
  const [unit = 's', size = 1000] =
    Object.entries(unitMs).findLast(([, one]) => whole >= one && whole % one === 0) ?? [];
  return `${whole / size}${unit}`;
}
