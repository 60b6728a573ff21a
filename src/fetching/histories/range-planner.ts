import type { TimeRange, UnreadRange, UnreadRanges } from './unread-ranges.ts';

/** How often an account posts: rows in a millisecond (0 if unknown), since it was made (`-Infinity` if unknown). */
export interface AccountPace {
  readonly rate: number;
  readonly joinedMs: number;
}

/** So many pages, the nearest ones, estimate the rate below them: accounts post in bursts. */
const nearPages = 3;

/** The rows of a page before one was read: FxTwitter sends 20 to 40. */
const usualRows = 20;

type Density = ReturnType<typeof createDensity>;

/** Creates an estimate of how densely an account posts. Rates are rows in a millisecond. */
export function createDensity() {
  let account: AccountPace = { rate: 0, joinedMs: Number.NEGATIVE_INFINITY };
  const pages: { readonly toMs: number; readonly lengthMs: number; readonly rows: number }[] = [];
  let largest = 0;
  return {
    /** Notes the pace of the account; its rate weighs as much as one page. */
    learn: (pace: AccountPace): void => {
      account = pace;
    },
    /** Nothing is expected from before this moment. */
    get joinedMs() {
      return account.joinedMs;
    },
    /** Notes how many rows a page had, and the time that they fill. */
    add: ({ topMs, bottomMs }: TimeRange, rows: number): void => {
      largest = Math.max(largest, rows);
      const lengthMs = topMs - bottomMs;
      if (lengthMs > 0 && Number.isFinite(lengthMs)) pages.push({ toMs: bottomMs, lengthMs, rows });
    },
    /** Returns the rate to expect below a moment; `null` while nothing is known. */
    rateBelow: (ms: number): number | null => {
      const { rate } = account;
      const near = pages
        .toSorted((a, b) => Math.abs(a.toMs - ms) - Math.abs(b.toMs - ms))
        .slice(0, nearPages);
      if (rate > 0) near.push({ toMs: ms, rows: usualRows, lengthMs: usualRows / rate });
      const rows = near.reduce((sum, page) => sum + page.rows, 0);
      const lengthMs = near.reduce((sum, page) => sum + page.lengthMs, 0);
      return lengthMs > 0 && rows > 0 ? rows / lengthMs : null;
    },
    /** How many rows a page has. */
    get pageRows() {
      return largest === 0 ? usualRows : largest;
    },
  };
}

export interface PlannerOptions {
  readonly ranges: UnreadRanges;
  readonly density: Density;
  /** Returns how many more posts are wanted than were found above a moment. */
  readonly wantedBelow: (ms: number) => number;
  /** Returns the part of the rows read so far that was wanted, 0 to 1. */
  readonly share: () => number;
}

/**
 * A range of this many expected pages is cut in two if nothing else is left to read: where two
 * ranges meet,
 * half a page is read twice on average, and a range that is denser than expected costs a turn more.
 */
const pagesToShare = 0.8;

/** The least number of pages to cut off the part below everything that is being read. */
const leastPages = 2;

/** Weight of the rows expected in ranges that are cut off: too few cost a round, too many a page. */
const trust = 0.9;

/** Lower bound of the part of wanted rows, so that no range becomes endless. */
const leastShare = 0.05;

/** Returns the range to read a page of next; `undefined` while all that is wanted is being read. */
export function planRange(options: PlannerOptions): UnreadRange | undefined {
  const { ranges } = options.ranges;
  const ready = ranges.find(({ isOpen, isTaken }) => !isOpen && !isTaken);
  return ready ?? cutOpen(options) ?? shareLongest(options);
}

/** Cuts the newest open range to the part in which as many posts are expected as are still wanted. */
function cutOpen(options: PlannerOptions): UnreadRange | undefined {
  const { ranges, density } = options;
  const at = ranges.ranges.findIndex(({ isOpen, isTaken }) => isOpen && !isTaken);
  const open = ranges.ranges[at];
  if (open === undefined) return undefined;
  const share = Math.max(options.share(), leastShare);
  const expected = ranges.ranges
    .slice(0, at)
    .reduce((sum, range) => sum + expectedRows(range, density), 0);
  const wanted = options.wantedBelow(open.topMs) - expected * share * trust;
  if (wanted <= 0) return undefined;
  const rate = density.rateBelow(open.topMs);
  const rows = Math.max(wanted / share, density.pageRows * leastPages);
  const cutMs = rate === null ? Number.NEGATIVE_INFINITY : open.topMs - rows / rate;
  if (cutMs > density.joinedMs) cutAt(ranges, open, cutMs);
  return open;
}

/** Cuts the range that is being read and has most expected rows in two, and returns the lower half. */
function shareLongest({ ranges, density }: PlannerOptions): UnreadRange | undefined {
  const [longest] = ranges.ranges
    .filter(({ isTaken }) => isTaken)
    .map((range) => ({ range, rows: expectedRows(range, density) }))
    .sort((a, b) => b.rows - a.rows);
  if (longest === undefined || longest.rows < density.pageRows * pagesToShare) return undefined;
  const { range } = longest;
  return cutAt(ranges, range, (range.topMs + bottomOf(range, density)) / 2);
}

/** Cuts at the nearest second above a moment, if both parts have one. */
function cutAt(ranges: UnreadRanges, range: UnreadRange, ms: number): UnreadRange | undefined {
  const secondMs = Math.ceil(ms / 1000) * 1000;
  if (secondMs >= range.topMs) return undefined;
  return ranges.split(range, { toMs: secondMs - 1, cursor: null });
}

/** Returns how many rows a range is expected to have; 0 if nothing is known of it. */
function expectedRows(range: UnreadRange, density: Density): number {
  const lengthMs = range.topMs - bottomOf(range, density);
  if (!Number.isFinite(lengthMs)) return 0;
  return (density.rateBelow(range.topMs) ?? 0) * Math.max(0, lengthMs);
}

/** Nothing is expected from before the account was made, but it is looked for. */
function bottomOf({ bottomMs }: UnreadRange, { joinedMs }: Density): number {
  return Math.max(bottomMs, joinedMs);
}
