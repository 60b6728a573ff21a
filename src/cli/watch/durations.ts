import { UsageError } from '../command.ts';

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

interface DurationRange {
  readonly name: string;
  readonly minMs: number;
  readonly maxMs: number;
}

/** Parses `90`, `90s`, `5m`, `1h` or `1d` to milliseconds. @throws UsageError if out of range */
export function parseDuration(text: string, { name, minMs, maxMs }: DurationRange): number {
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
