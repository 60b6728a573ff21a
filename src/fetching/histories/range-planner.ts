import type { SecondRange } from '../../normalize/times.ts';

/** Profile data that is used to estimate when the account posted. */
export interface AccountPace {
  /** Number of posts of the account; `Infinity` if unknown. */
  readonly posts: number;
  /** Posts per millisecond since the account was created; 0 if unknown. */
  readonly rate: number;
  /** Time when the account was created, in epoch ms; `-Infinity` if unknown. */
  readonly joinedMs: number;
}

export const unknownPace: AccountPace = {
  posts: Number.POSITIVE_INFINITY,
  rate: 0,
  joinedMs: Number.NEGATIVE_INFINITY,
};

const nearPages = 3; // number of nearest pages from which the posting rate at a time is estimated

const usualRows = 20; // assumed rows per page before the first page: FxTwitter sends 20 to 40

type DensityEstimate = ReturnType<typeof createDensityEstimate>;

export function createDensityEstimate() {
  let account = unknownPace;
  const pages: { readonly toMs: number; readonly lengthMs: number; readonly rows: number }[] = [];
  let largest = 0;
  let floorMs = Number.NEGATIVE_INFINITY;
  return {
    /** Sets the pace from the profile, which counts as one page in the average of `rateBelow`. */
    setPace: (pace: AccountPace): void => {
      account = pace;
    },
    /** Sets the time before which no posts are expected. A page with older posts removes it. */
    setFloor: (ms: number): void => {
      floorMs = Math.max(floorMs, ms);
    },
    get accountPosts() {
      return account.posts;
    },
    /** Time in epoch ms before which no posts are expected; `-Infinity` if unknown. */
    get oldestMs() {
      return Math.max(account.joinedMs, floorMs);
    },
    add: ({ topMs, bottomMs }: TimeRange, rows: number): void => {
      largest = Math.max(largest, rows);
      if (bottomMs < floorMs) floorMs = Number.NEGATIVE_INFINITY;
      const lengthMs = topMs - bottomMs;
      if (lengthMs > 0 && Number.isFinite(lengthMs)) pages.push({ toMs: bottomMs, lengthMs, rows });
    },
    /** Returns the expected posts per millisecond directly before `ms`; `null` if unknown. */
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
  readonly density: DensityEstimate;
  /** Returns how many posts older than `ms` are still needed for the requested number. */
  readonly wantedBelow: (ms: number) => number;
  /** Returns the number of the account's posts not found yet; `Infinity` if unknown. */
  readonly postsLeft: () => number;
  /** Returns the fraction (0 to 1) of the posts read so far that match the request. */
  readonly wantedShare: () => number;
}

const pagesToSplit = 0.8;

const minPages = 2;

const expectedWeight = 0.9;

const minWantedShare = 0.05; // lower bound of the share of wanted rows, which keeps ranges finite

/** Returns the time range to read next; `undefined` if all needed ranges are already being read. */
export function planRange(options: PlannerOptions): UnreadRange | undefined {
  const { ranges } = options.ranges;
  const ready = ranges.find(({ isOpen, isBeingRead }) => !isOpen && !isBeingRead);
  if (ready !== undefined) return ready;
  return hasEnoughPages(options)
    ? undefined
    : (narrowOpenRange(options) ?? splitLongestRange(options));
}

function hasEnoughPages({ ranges, density, postsLeft }: PlannerOptions): boolean {
  const pages = ranges.ranges.filter(({ isBeingRead }) => isBeingRead).length;
  return pages > 0 && pages * density.pageRows >= postsLeft();
}

function narrowOpenRange(options: PlannerOptions): UnreadRange | undefined {
  const { ranges, density } = options;
  const at = ranges.ranges.findIndex(({ isOpen, isBeingRead }) => isOpen && !isBeingRead);
  const open = ranges.ranges[at];
  if (open === undefined) return undefined;
  const share = Math.max(options.wantedShare(), minWantedShare);
  const expected = ranges.ranges
    .slice(0, at)
    .reduce((sum, range) => sum + expectedRows(range, density), 0);
  const wanted = options.wantedBelow(open.topMs) - expected * share * expectedWeight;
  if (wanted <= 0) return undefined;
  const rate = density.rateBelow(open.topMs);
  const rows = Math.max(wanted / share, density.pageRows * minPages);
  const cutMs = rate === null ? Number.NEGATIVE_INFINITY : open.topMs - rows / rate;
  if (cutMs > density.oldestMs) cutAt(ranges, open, cutMs);
  return open;
}

function splitLongestRange({ ranges, density }: PlannerOptions): UnreadRange | undefined {
  const [longest] = ranges.ranges
    .filter(({ isBeingRead }) => isBeingRead)
    .map((range) => ({ range, rows: expectedRows(range, density) }))
    .sort((a, b) => b.rows - a.rows);
  if (longest === undefined || longest.rows < density.pageRows * pagesToSplit) return undefined;
  const { range } = longest;
  return cutAt(ranges, range, (range.topMs + bottomOf(range, density)) / 2);
}

function cutAt(ranges: UnreadRanges, range: UnreadRange, ms: number): UnreadRange | undefined {
  const secondMs = Math.ceil(ms / 1000) * 1000;
  if (secondMs >= range.topMs) return undefined;
  return ranges.split(range, { toMs: secondMs - 1, cursor: null });
}

function expectedRows(range: UnreadRange, density: DensityEstimate): number {
  const lengthMs = range.topMs - bottomOf(range, density);
  if (!Number.isFinite(lengthMs)) return 0;
  return (density.rateBelow(range.topMs) ?? 0) * Math.max(0, lengthMs);
}

const bottomOf = ({ bottomMs }: UnreadRange, { oldestMs }: DensityEstimate): number =>
  Math.max(bottomMs, oldestMs);

/** Part of a timeline in epoch ms, both ends inclusive. An end without a limit is infinite. */
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
  /** Cursor of the page at `topMs`. If `null`, the page is requested by its time. */
  cursor: string | null;
  isBeingRead: boolean;
  /** Oldest epoch time in ms covered by the pages read; `Infinity` before the first page. */
  reachedMs: number;
  idlePages: number;
  /** Whether the range may contain far more posts than needed, and may be split before a read. */
  isOpen: boolean;
}

/** Older end of a page in epoch ms, and the cursor of the next older page. */
export interface Reached {
  readonly toMs: number;
  readonly cursor: string | null;
}

export type UnreadRanges = ReturnType<typeof createUnreadRanges>;

/** Creates the list of unread ranges of a timeline, newest first. Ranges never overlap. */
export function createUnreadRanges(parts: readonly TimeRange[]) {
  const ranges: UnreadRange[] = parts.map((part) => ({ ...part, ...initialState }));
  const remove = (range: UnreadRange): void => {
    const at = ranges.indexOf(range);
    if (at !== -1) ranges.splice(at, 1);
  };
  const mergeIntoAbove = (range: UnreadRange): boolean => {
    const above = ranges[ranges.indexOf(range) - 1];
    if (above === undefined) return false;
    above.bottomMs = range.bottomMs;
    above.isOpen = range.isOpen;
    remove(range);
    return true;
  };
  return {
    ranges: ranges as readonly UnreadRange[],
    /** Epoch time in ms. All posts newer than this time have been read. */
    get frontierMs() {
      return ranges[0]?.topMs ?? Number.NEGATIVE_INFINITY;
    },
    /** Marks a page as read in `range` and in older ranges, but not beyond one being read. */
    advance: (range: UnreadRange, reached: Reached): void => {
      const at = ranges.indexOf(range);
      // The range was removed if the end of the timeline was found above it in the meantime.
      if (at === -1) return;
      range.idlePages = reached.toMs < range.reachedMs ? 0 : range.idlePages + 1;
      lowerTop(range, reached);
      if (isEmpty(range)) skipCovered(ranges, at, reached);
    },
    /** Removes a range and all older ranges, because the timeline ends in `range`. */
    end: (range: UnreadRange): void => {
      const at = ranges.indexOf(range);
      if (at !== -1) ranges.length = at;
    },
    remove,
    /** Splits off and returns the part older than `toMs`; `undefined` if a part would be empty. */
    split: (range: UnreadRange, { toMs, cursor }: Reached): UnreadRange | undefined => {
      const at = ranges.indexOf(range);
      if (at === -1 || toMs >= range.topMs || toMs < range.bottomMs) return undefined;
      const { bottomMs, isOpen } = range;
      const below = { ...initialState, topMs: toMs, bottomMs, cursor, isOpen };
      range.bottomMs = toMs + 1;
      range.isOpen = false;
      ranges.splice(at + 1, 0, below);
      return below;
    },
    /** Returns whether `range` was split off at an estimated time and has not been read yet. */
    isSplitOff: (range: UnreadRange): boolean =>
      range.cursor === null && ranges[ranges.indexOf(range) - 1]?.bottomMs === range.topMs + 1,
    /** Merges a range into the next newer range. Returns `false` if there is none. */
    mergeIntoAbove,
    /** Merges idle ranges without a cursor into newer ones, for a source that cannot seek. */
    mergeSeekRanges: (): void => {
      for (const range of ranges.slice(1).toReversed()) {
        if (!range.isBeingRead && range.cursor === null) mergeIntoAbove(range);
      }
    },
  };
}

const initialState = {
  cursor: null,
  isBeingRead: false,
  reachedMs: Number.POSITIVE_INFINITY,
  idlePages: 0,
  isOpen: true,
};

function skipCovered(ranges: UnreadRange[], at: number, reached: Reached): void {
  ranges.splice(at, 1);
  for (let next = ranges[at]; next !== undefined; next = ranges[at]) {
    if (next.isBeingRead || next.topMs <= reached.toMs) return;
    lowerTop(next, reached);
    if (!isEmpty(next)) return;
    ranges.splice(at, 1);
  }
}

const isEmpty = ({ topMs, bottomMs }: UnreadRange): boolean => topMs < bottomMs;

function lowerTop(range: UnreadRange, { toMs, cursor }: Reached): void {
  range.topMs = Math.min(range.topMs, toMs);
  range.reachedMs = Math.min(range.reachedMs, toMs);
  range.cursor = cursor;
}
