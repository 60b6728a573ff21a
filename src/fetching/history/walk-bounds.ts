import { type SecondRange, subtractRanges } from '../../providers/second-ranges.ts';
import { secondsOf } from './kept-part.ts';
import { type TimeRange, toMoments, toSeconds } from './time-range.ts';
import type { WalkOptions } from './walk.ts';

/** What is younger is read again by the next import: sources show posts late, and authors delete them early. */
const youngSeconds = 900;

type Bounds = Pick<WalkOptions, 'query' | 'kept'>;

/** Gives what is asked for and not kept, newest first. */
export function toUnread({ query, kept }: Bounds, nowMs: number): readonly TimeRange[] {
  const whole = secondsOf(query, nowMs);
  const topMs = query.untilSeconds === null ? nowMs : query.untilSeconds * 1000 - 1;
  return subtractRanges(whole, kept.ranges)
    .map(toMoments)
    .map((range) => ({ ...range, topMs: Math.min(range.topMs, topMs) }));
}

/** Gives what of a query is read, neither kept nor unsure, and will not change: newest first. */
export function toSettled(
  { query, kept }: Bounds,
  nowMs: number,
  unsure: readonly TimeRange[],
): readonly SecondRange[] {
  const { fromSecond, toSecond } = secondsOf(query, nowMs);
  const settled = Math.floor(nowMs / 1000) - youngSeconds;
  const whole = { fromSecond, toSecond: Math.min(toSecond, settled) };
  return subtractRanges(whole, [...unsure.map(toSeconds), ...kept.ranges]);
}
