import type { SecondRange } from '../../platforms/second-ranges.ts';

/** A part of a timeline, in milliseconds since the epoch, both ends included; infinite at its ends. */
export interface TimeRange {
  readonly topMs: number;
  readonly bottomMs: number;
}

/** Joins ranges, which are newest first, that follow each other without a second between them. */
export function mergeRanges(ranges: readonly TimeRange[]): readonly TimeRange[] {
  const merged: { topMs: number; bottomMs: number }[] = [];
  for (const { topMs, bottomMs } of ranges) {
    const last = merged.at(-1);
    if (last !== undefined && last.bottomMs <= topMs + 1000) {
      last.bottomMs = Math.min(last.bottomMs, bottomMs);
    } else {
      merged.push({ topMs, bottomMs });
    }
  }
  return merged;
}

/** Gives the seconds that a range has something of. */
export function toSeconds({ topMs, bottomMs }: TimeRange): SecondRange {
  return { fromSecond: Math.floor(bottomMs / 1000), toSecond: Math.floor(topMs / 1000) };
}

/** Gives all moments of a range of seconds. */
export function toMoments({ fromSecond, toSecond }: SecondRange): TimeRange {
  return { topMs: toSecond * 1000 + 999, bottomMs: fromSecond * 1000 };
}
