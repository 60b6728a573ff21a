import type { SecondRange } from '../../platforms/second-ranges.ts';

/** How often an account posts: rows in a millisecond (0 if unknown), since it was made (`-Infinity` if unknown). */
export interface AccountPace {
  readonly rate: number;
  readonly joinedMs: number;
}

/** So many pages, the nearest ones, estimate the rate below them: accounts post in bursts. */
const nearPages = 3;

const usualRows = 20; // the rows of a page before one was read: FxTwitter sends 20 to 40

type Density = ReturnType<typeof createDensity>;

export function createDensity() {
  let account: AccountPace = { rate: 0, joinedMs: Number.NEGATIVE_INFINITY };
  const pages: { readonly toMs: number; readonly lengthMs: number; readonly rows: number }[] = [];
  let largest = 0;
  return {
    /** Notes the pace of the account; its rate weighs as much as one page. */
    learn: (pace: AccountPace): void => {
      account = pace;
    },
    get joinedMs() {
      return account.joinedMs;
    },
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
 * A range of this many expected pages is cut in two if nothing else is left to read: where two ranges
 * meet, half a page is read twice on average, and a range that is denser than expected costs a turn
 * more.
 */
const pagesToShare = 0.8;

const leastPages = 2;

/** Weight of the rows expected in ranges that are cut off: too few cost a round, too many a page. */
const trust = 0.9;

const leastShare = 0.05; // lower bound of the part of wanted rows, so that no range becomes endless

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

function cutAt(ranges: UnreadRanges, range: UnreadRange, ms: number): UnreadRange | undefined {
  const secondMs = Math.ceil(ms / 1000) * 1000;
  if (secondMs >= range.topMs) return undefined;
  return ranges.split(range, { toMs: secondMs - 1, cursor: null });
}

function expectedRows(range: UnreadRange, density: Density): number {
  const lengthMs = range.topMs - bottomOf(range, density);
  if (!Number.isFinite(lengthMs)) return 0;
  return (density.rateBelow(range.topMs) ?? 0) * Math.max(0, lengthMs);
}

/** Nothing is expected from before the account was made, but it is looked for. */
function bottomOf({ bottomMs }: UnreadRange, { joinedMs }: Density): number {
  return Math.max(bottomMs, joinedMs);
}

/** A part of a timeline, in milliseconds since the epoch, both ends included; infinite at its ends. */
export interface TimeRange {
  readonly topMs: number;
  readonly bottomMs: number;
}

export function toSeconds({ topMs, bottomMs }: TimeRange): SecondRange {
  return { fromSecond: Math.floor(bottomMs / 1000), toSecond: Math.floor(topMs / 1000) };
}

export interface UnreadRange {
  topMs: number;
  bottomMs: number;
  /** The provider's cursor to `topMs`; `null` if the range is entered by its time. */
  cursor: string | null;
  isTaken: boolean;
  /** How far its last page reached, inside the range or still above it. */
  reachedMs: number;
  idlePages: number;
  /** False if it was cut to what is wanted; otherwise it may have far more. */
  isOpen: boolean;
}

/** The end of a page: everything newer than `toMs` is on it, and `cursor` continues from there. */
export interface Reached {
  readonly toMs: number;
  readonly cursor: string | null;
}

export type UnreadRanges = ReturnType<typeof createUnreadRanges>;

/** Creates the unread ranges of a timeline, newest first. They never overlap. */
export function createUnreadRanges(parts: readonly TimeRange[]) {
  const ranges: UnreadRange[] = parts.map((part) => ({ ...part, ...untouched }));
  const remove = (range: UnreadRange): void => {
    const at = ranges.indexOf(range);
    if (at !== -1) ranges.splice(at, 1);
  };
  const joinAbove = (range: UnreadRange): boolean => {
    const above = ranges[ranges.indexOf(range) - 1];
    if (above === undefined) return false;
    above.bottomMs = range.bottomMs;
    above.isOpen = range.isOpen;
    remove(range);
    return true;
  };
  return {
    ranges: ranges as readonly UnreadRange[],
    /** Everything newer than this moment has been read. */
    get frontierMs() {
      return ranges[0]?.topMs ?? Number.NEGATIVE_INFINITY;
    },
    /** Takes what a page covers off its range, and off the untaken ranges below that it reaches into. */
    advance: (range: UnreadRange, reached: Reached): void => {
      const at = ranges.indexOf(range);
      // The end of the timeline, found above it in the meantime, may have taken it out.
      if (at === -1) return;
      range.idlePages = reached.toMs < range.reachedMs ? 0 : range.idlePages + 1;
      lower(range, reached);
      if (isEmpty(range)) spareBelow(ranges, at, reached);
    },
    /** Removes a range and all below it, because nothing is older. */
    end: (range: UnreadRange): void => {
      const at = ranges.indexOf(range);
      if (at !== -1) ranges.length = at;
    },
    remove,
    /** Splits a range: it keeps what is newer than `toMs`. Returns the lower part, if both have something. */
    split: (range: UnreadRange, { toMs, cursor }: Reached): UnreadRange | undefined => {
      const at = ranges.indexOf(range);
      if (at === -1 || toMs >= range.topMs || toMs < range.bottomMs) return undefined;
      const { bottomMs, isOpen } = range;
      const below = { ...untouched, topMs: toMs, bottomMs, cursor, isOpen };
      range.bottomMs = toMs + 1;
      range.isOpen = false;
      ranges.splice(at + 1, 0, below);
      return below;
    },
    /** Adds a range to the one above it, whose pages lead there; returns false if there is none. */
    joinAbove,
    /** Joins every range that can be entered by its time alone to the one above it. */
    joinEntered: (): void => {
      for (const range of ranges.slice(1).toReversed()) {
        if (!range.isTaken && range.cursor === null) joinAbove(range);
      }
    },
  };
}

const untouched = {
  cursor: null,
  isTaken: false,
  reachedMs: Number.POSITIVE_INFINITY,
  idlePages: 0,
  isOpen: true,
};

/** Removes a range that is read, and what its last page covers of the ranges below, up to one that is being read. */
function spareBelow(ranges: UnreadRange[], at: number, reached: Reached): void {
  ranges.splice(at, 1);
  for (let next = ranges[at]; next !== undefined; next = ranges[at]) {
    if (next.isTaken || next.topMs <= reached.toMs) return;
    lower(next, reached);
    if (!isEmpty(next)) return;
    ranges.splice(at, 1);
  }
}

function isEmpty({ topMs, bottomMs }: UnreadRange): boolean {
  return topMs < bottomMs;
}

function lower(range: UnreadRange, { toMs, cursor }: Reached): void {
  range.topMs = Math.min(range.topMs, toMs);
  range.reachedMs = Math.min(range.reachedMs, toMs);
  range.cursor = cursor;
}
