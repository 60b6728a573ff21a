import type * as z from 'zod';
import { toIsoSeconds } from '../lib/clock.ts';
import type { Status } from '../model/post.ts';
import { refuse } from './lenient.ts';

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)$/;
const xTime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d [+-]\d{4} \d{4}$/;
const yearOneMs = -62_135_596_800_000;
const yearTenThousandMs = 253_402_300_800_000;

/** Returns Unix milliseconds in the years 1 to 9999 unchanged; otherwise `null`. */
export const checkTimeMs = (ms: number): number | null =>
  ms >= yearOneMs && ms < yearTenThousandMs ? ms : null;

/** Parses ISO 8601 and `Tue Oct 01 19:59:18 +0000 2024`; returns `null` for other formats. */
export const readTimeMs = (text: string): number | null =>
  isoTime.test(text) || xTime.test(text) ? checkTimeMs(Date.parse(text)) : null;

/** Converts a time to ISO 8601 in UTC with seconds; `null` if it cannot be parsed. */
export function toIsoTime(text: string | null): string | null {
  const ms = text === null ? null : readTimeMs(text);
  return ms === null ? null : toIsoSeconds(ms);
}

export function toCreated(ms: number): Pick<Status, 'created_at' | 'created_timestamp'> {
  return { created_at: toIsoSeconds(ms), created_timestamp: Math.floor(ms / 1000) };
}

/** Adds the creation time to a parsed post, or a validation error if it is `null`. */
export function withCreatedMs<Row extends object>(
  row: Row,
  createdMs: number | null,
  context: z.RefinementCtx,
): Row & { readonly createdMs: number } {
  return createdMs === null ? refuseTime(context) : { ...row, createdMs };
}

export function refuseTime(context: z.RefinementCtx): never {
  return refuse(context, 'There is no readable time.');
}

/** Time range in Unix seconds. Both ends are inclusive. */
export interface SecondRange {
  /** First second of the range; `-Infinity` if the range has no lower bound. */
  readonly fromSecond: number;
  readonly toSecond: number;
}

/** Returns the parts of `whole` that no range in `others` covers, newest first. */
export function subtractRanges(
  whole: SecondRange,
  others: readonly SecondRange[],
): readonly SecondRange[] {
  const left: SecondRange[] = [];
  let { toSecond } = whole;
  for (const other of others.toSorted((a, b) => b.toSecond - a.toSecond)) {
    if (other.toSecond < whole.fromSecond) break;
    if (other.toSecond < toSecond) left.push({ fromSecond: other.toSecond + 1, toSecond });
    toSecond = Math.min(toSecond, other.fromSecond - 1);
  }
  return toSecond < whole.fromSecond || toSecond === Number.NEGATIVE_INFINITY
    ? left
    : [...left, { fromSecond: whole.fromSecond, toSecond }];
}

/** Merges time ranges that overlap or are adjacent. Returns them newest first. */
export function joinRanges(ranges: readonly SecondRange[]): readonly SecondRange[] {
  const joined: SecondRange[] = [];
  for (const range of ranges.toSorted((a, b) => b.toSecond - a.toSecond)) {
    const above = joined.at(-1);
    if (above === undefined || range.toSecond < above.fromSecond - 1) {
      joined.push({ fromSecond: range.fromSecond, toSecond: range.toSecond });
    } else if (range.fromSecond < above.fromSecond) {
      joined[joined.length - 1] = { ...above, fromSecond: range.fromSecond };
    }
  }
  return joined;
}

export function clipRanges(
  ranges: readonly SecondRange[],
  { fromSecond, toSecond }: SecondRange,
): readonly SecondRange[] {
  const clipped = ranges.map((range) => ({
    fromSecond: Math.max(range.fromSecond, fromSecond),
    toSecond: Math.min(range.toSecond, toSecond),
  }));
  return clipped.filter((range) => range.fromSecond <= range.toSecond);
}
