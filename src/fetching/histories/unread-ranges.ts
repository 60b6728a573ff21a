import type { SecondRange } from '../../platforms/second-ranges.ts';

/** A part of a timeline, in milliseconds since the epoch, both ends included; infinite at its ends. */
export interface TimeRange {
  readonly topMs: number;
  readonly bottomMs: number;
}

/** Returns the seconds that a range has a part of. */
export function toSeconds({ topMs, bottomMs }: TimeRange): SecondRange {
  return { fromSecond: Math.floor(bottomMs / 1000), toSecond: Math.floor(topMs / 1000) };
}

/** A part of the timeline that has not been read. */
export interface UnreadRange {
  topMs: number;
  bottomMs: number;
  /** The provider's cursor to `topMs`; `null` if the range is entered by its time. */
  cursor: string | null;
  /** Whether a page of it is being read. */
  isTaken: boolean;
  /** How far its last page reached, inside the range or still above it. */
  reachedMs: number;
  /** Number of pages in a row that made no progress. */
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
