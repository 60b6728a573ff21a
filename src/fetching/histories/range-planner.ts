import type { Density } from './density.ts';
import type { UnreadRange, UnreadRanges } from './unread-ranges.ts';

/** What a planner decides by. */
export interface PlannerOptions {
  readonly ranges: UnreadRanges;
  readonly density: Density;
  /** How many more posts are wanted than are found above a moment. */
  readonly wantedBelow: (ms: number) => number;
  /** How many of the rows that were read were wanted, 0 to 1. */
  readonly share: () => number;
}

/** Cuts what is unread into ranges that are read at once, each by a chain of pages. */
export interface RangePlanner {
  /** Gives the range to read a page of next; undefined while all that is wanted is being read. */
  next(): UnreadRange | undefined;
}

/**
 * A range that is expected to have so many pages is cut in two for whoever has nothing to read. Where two
 * ranges meet, half a page is read twice on average; a range that is denser than expected costs a turn more.
 */
const pagesToShare = 0.8;

/** The least that is cut off what is older than everything that is being read. */
const leastPages = 2;

/** What is expected of ranges that are cut off counts so much: too few cost a round, too many a page. */
const trust = 0.9;

/** No share of wanted rows is taken to be less, so that a range does not become endless by it. */
const leastShare = 0.05;

/** Creates a planner. */
export function createRangePlanner(options: PlannerOptions): RangePlanner {
  const { ranges, density } = options;
  return {
    next: () => {
      const ready = ranges.ranges.find(({ isOpen, isTaken }) => !isOpen && !isTaken);
      return ready ?? takeOpen(options) ?? shareLongest(ranges, density);
    },
  };
}

/** Cuts off the upper part of the newest open range in which as many posts are expected as are still wanted. */
function takeOpen(options: PlannerOptions): UnreadRange | undefined {
  const { ranges, density } = options;
  const at = ranges.ranges.findIndex(({ isOpen, isTaken }) => isOpen && !isTaken);
  const open = ranges.ranges[at];
  if (open === undefined) return undefined;
  const share = Math.max(options.share(), leastShare);
  const expected = ranges.ranges
    .slice(0, at)
    .reduce((sum, range) => sum + rowsOf(range, density), 0);
  const wanted = options.wantedBelow(open.topMs) - expected * share * trust;
  if (wanted <= 0) return undefined;
  const rate = density.rateBelow(open.topMs);
  const rows = Math.max(wanted / share, density.pageRows * leastPages);
  const cutMs = rate === null ? Number.NEGATIVE_INFINITY : open.topMs - rows / rate;
  if (cutMs > density.joinedMs) cutAt(ranges, open, cutMs);
  return open;
}

/** Cuts the range in two in which most rows are expected of those that are read, and gives the lower half. */
function shareLongest(ranges: UnreadRanges, density: Density): UnreadRange | undefined {
  const [longest] = ranges.ranges
    .filter(({ isTaken }) => isTaken)
    .map((range) => ({ range, rows: rowsOf(range, density) }))
    .sort((a, b) => b.rows - a.rows);
  if (longest === undefined || longest.rows < density.pageRows * pagesToShare) return undefined;
  const { range } = longest;
  return cutAt(ranges, range, (range.topMs + bottomOf(range, density)) / 2);
}

/** Cuts at the nearest second above a moment, where both parts have one. */
function cutAt(ranges: UnreadRanges, range: UnreadRange, ms: number): UnreadRange | undefined {
  const second = Math.ceil(ms / 1000);
  const isInside = second * 1000 < range.topMs && second * 1000 > range.bottomMs;
  return isInside ? ranges.cut(range, second) : undefined;
}

/** How many rows are expected in a range; none where nothing is known of it. */
function rowsOf(range: UnreadRange, density: Density): number {
  const lengthMs = range.topMs - bottomOf(range, density);
  if (!Number.isFinite(lengthMs)) return 0;
  return (density.rateBelow(range.topMs) ?? 0) * Math.max(0, lengthMs);
}

/** Nothing is expected from before the account was made, but it is looked for. */
function bottomOf({ bottomMs }: UnreadRange, { joinedMs }: Density): number {
  return Math.max(bottomMs, joinedMs);
}
