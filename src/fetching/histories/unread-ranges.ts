import type { TimeRange } from './time-range.ts';

/** A part of the range that has not been read: the moments from `bottomMs` to `topMs`, both included. */
export interface UnreadRange {
  /** Milliseconds since the epoch; infinite where the range begins at the top of the timeline. */
  topMs: number;
  /** Minus infinity where it goes down to the first post. */
  bottomMs: number;
  /** The provider's cursor to `topMs`; null where it is entered by its time. */
  cursor: string | null;
  /** Whether a page of it is being read. */
  isTaken: boolean;
  /** How far its last page reached, whether that is in it or still above it. */
  reachedMs: number;
  /** How many pages in a row have not brought it on. */
  idlePages: number;
  /** False where it was cut to what is wanted; else it may have far more. */
  isOpen: boolean;
}

/** How far a page reaches: everything newer than `toMs` is on it, and `cursor` goes on from there. */
export interface Reached {
  readonly toMs: number;
  readonly cursor: string;
}

/** What is left to be read of a timeline: ranges that do not overlap, newest first. */
export interface UnreadRanges {
  readonly ranges: readonly UnreadRange[];
  /** Everything newer than this moment has been read; minus infinity when all has. */
  readonly frontierMs: number;
  /** Notes that a page of a range has been read, and of the untaken ranges below that it reaches into. */
  advance(range: UnreadRange, reached: Reached): void;
  /** Notes that there is nothing older than a range: it and all below it are read. */
  end(range: UnreadRange): void;
  /** Takes a range out that is known from elsewhere, or given up. */
  remove(range: UnreadRange): void;
  /** Cuts a range at the beginning of a second; it keeps the upper part. Gives the lower one, which is open if the range was. */
  cut(range: UnreadRange, second: number): UnreadRange;
  /**
   * Cuts off what a page that is asked for again does not reach: the range keeps what is on the page,
   * and the lower part can be read meanwhile.
   */
  divide(range: UnreadRange, reached: Reached): void;
  /** Adds a range to the one above it, whose pages lead there; false where there is none. */
  joinAbove(range: UnreadRange): boolean;
  /** Joins every range that can be entered by its time alone to the one above it. */
  joinEntered(): void;
}

/** Creates the ranges of a timeline of which these parts are to be read, newest first. */
export function createUnreadRanges(parts: readonly TimeRange[]): UnreadRanges {
  const ranges: UnreadRange[] = parts.map((part) => ({ ...part, ...untouched }));
  const remove = (range: UnreadRange): void => {
    const at = ranges.indexOf(range);
    if (at !== -1) ranges.splice(at, 1);
  };
  /** Takes off what a page reaches into below its own range, up to one that is being read. */
  const spare = (below: readonly UnreadRange[], reached: Reached): void => {
    for (const next of below) {
      if (next.isTaken || next.topMs <= reached.toMs) return;
      lower(next, reached);
      if (next.topMs >= next.bottomMs) return;
      remove(next);
    }
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
    ranges,
    get frontierMs() {
      return ranges[0]?.topMs ?? Number.NEGATIVE_INFINITY;
    },
    advance: (range, reached) => {
      const at = ranges.indexOf(range);
      // What ended above it while it was read has taken it out.
      if (at === -1) return;
      range.idlePages = reached.toMs < range.reachedMs ? 0 : range.idlePages + 1;
      lower(range, reached);
      if (range.topMs >= range.bottomMs) return;
      remove(range);
      spare(ranges.slice(at), reached);
    },
    end: (range) => {
      const at = ranges.indexOf(range);
      if (at !== -1) ranges.length = at;
    },
    remove,
    cut: (range, second) => {
      const { bottomMs, isOpen } = range;
      const lower = { ...untouched, topMs: second * 1000 - 1, bottomMs, isOpen };
      range.bottomMs = second * 1000;
      range.isOpen = false;
      ranges.splice(ranges.indexOf(range) + 1, 0, lower);
      return lower;
    },
    divide: (range, reached) => {
      if (ranges.includes(range))
        ranges.splice(ranges.indexOf(range) + 1, 0, ...below(range, reached));
    },
    joinAbove,
    joinEntered: () => {
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

/** Takes off a range what a page does not reach, and gives that, where both have something. */
function below(range: UnreadRange, { toMs, cursor }: Reached): readonly UnreadRange[] {
  if (toMs >= range.topMs || toMs < range.bottomMs) return [];
  const lower = {
    ...untouched,
    topMs: toMs,
    bottomMs: range.bottomMs,
    cursor,
    isOpen: range.isOpen,
  };
  range.bottomMs = toMs + 1;
  range.isOpen = false;
  return [lower];
}

function lower(range: UnreadRange, { toMs, cursor }: Reached): void {
  range.topMs = Math.min(range.topMs, toMs);
  range.reachedMs = Math.min(range.reachedMs, toMs);
  range.cursor = cursor;
}
