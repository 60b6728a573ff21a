import { setMaxListeners } from 'node:events';
import type { KeptPart } from '../../archive/histories/kept-histories.ts';
import { Problem } from '../../core/problem.ts';
import type { Post } from '../../model/post.ts';
import type { Page, PageSpan } from '../../model/queries.ts';
import { joinRanges, type SecondRange, subtractRanges } from '../../platforms/second-ranges.ts';
import { postKey } from '../cache/subjects.ts';
import type { HistoryQuery } from './history-query.ts';
import { secondsOf } from './keeping.ts';
import { createFoundPosts, createOrdering, type PlacedPost } from './ordering.ts';
import {
  createPageReader,
  hasOwnTime,
  oldestOf,
  type PagePlace,
  type PageReader,
  type PageReaderOptions,
  rowsOf,
  type SteadyPage,
  spanOf,
} from './page-reader.ts';
import {
  type AccountPace,
  createDensity,
  createUnreadRanges,
  type PlannerOptions,
  planRange,
  type Reached,
  type TimeRange,
  toSeconds,
  type UnreadRange,
} from './range-planner.ts';

export interface WalkOptions extends PageReaderOptions {
  readonly query: HistoryQuery;
  readonly concurrency: number;
  readonly pace: Promise<AccountPace>;
  /** The part that is not asked for, because an earlier import kept it. */
  readonly kept: KeptPart;
  /** Called once at the end with what was read as a whole beside the kept part. */
  readonly onWalked?: ((walked: KeptPart) => Promise<void>) | undefined;
}

export interface WalkEnd {
  /** The parts that were not read, newest first: all that is older, if enough posts were found. */
  readonly unread: readonly SecondRange[];
  /** The parts that may lack posts, because their pages stayed short. */
  readonly uncertain: readonly SecondRange[];
  readonly isCut: boolean;
  readonly isAtEnd: boolean;
  /** Why it ended early; `null` if it did not, or was interrupted. */
  readonly failure: Problem | null;
  readonly pages: number;
  readonly warnings: readonly string[];
}

/**
 * Walks the posts of an account in a range of time, newest first, each once. The unread part is cut into
 * ranges of about a page, read at once by chains of pages that begin where the one before ended, if the
 * source can be entered anywhere. Throws Problem, see ProviderChain.ask, if it failed before any post.
 */
export async function* walkHistory(
  options: WalkOptions,
): AsyncGenerator<readonly PlacedPost[], WalkEnd> {
  const walking = new Walking(options);
  try {
    while (!walking.isOver) {
      const posts = walking.release();
      if (posts.length > 0) {
        yield posts;
        walking.resume();
      } else {
        await walking.progress();
      }
    }
    const last = await walking.settle();
    if (last.length > 0) yield last;
    return walking.finish();
  } finally {
    await options.onWalked?.(walking.stop());
  }
}

const maxAhead = 1000;

const maxIdlePages = 8; // after so many pages without progress a range is given up

const unsettled = 'The oldest reposts may have been made before `since`; the source did not tell.';

class Walking {
  readonly #options: WalkOptions;
  readonly #startMs: number;
  readonly #ranges: ReturnType<typeof createUnreadRanges>;
  readonly #ordering: ReturnType<typeof createOrdering>;
  /** Absent if nothing is kept, so that posts are forgotten once they are sent. */
  readonly #found: ReturnType<typeof createFoundPosts> | undefined;
  readonly #density = createDensity();
  readonly #planning: PlannerOptions;
  readonly #reader: PageReader;
  readonly #stopped = new AbortController();
  readonly #uncertain: TimeRange[] = [];
  readonly #warnings = new Set<string>();
  readonly #ends: Reached[] = [];
  #notify: () => void = () => undefined;
  #active = 0;
  #rows = 0;
  #matched = 0;
  #oldestSecond: number;
  #jumps: 'unknown' | 'work' | 'fail' = 'unknown';
  #isPausedByReader = false;
  #isAtEnd = false;
  #failure: unknown;

  constructor(options: WalkOptions) {
    const { query, kept, clock, signal } = options;
    this.#options = options;
    this.#startMs = clock.now();
    this.#ranges = createUnreadRanges(toUnread(query, kept, this.#startMs));
    this.#ordering = createOrdering(query);
    this.#ordering.addKept(kept.posts);
    this.#found = options.onWalked && createFoundPosts(query);
    const oldestKept = kept.posts.findLast(({ post }) => hasOwnTime(post));
    this.#oldestSecond = oldestKept?.second ?? Number.POSITIVE_INFINITY;
    const walkSignal = AbortSignal.any([signal, this.#stopped.signal]);
    setMaxListeners(0, walkSignal); // as many as there are pages at once
    this.#reader = createPageReader({ ...options, signal: walkSignal });
    this.#planning = {
      ranges: this.#ranges,
      density: this.#density,
      wantedBelow: (ms) => query.maxPosts - this.#ordering.foundAbove(ms),
      share: () => (this.#rows === 0 ? 1 : this.#matched / this.#rows),
    };
    signal.addEventListener('abort', () => this.#notify(), { signal: walkSignal });
    this.#fill();
  }

  get isOver(): boolean {
    if (this.#options.signal.aborted) return true;
    if (this.#ordering.given >= this.#options.query.maxPosts) return true;
    // After a failure the pages under way are still good.
    return this.#active === 0;
  }

  /** Returns the posts that are in order so far. Until `resume` their reader is not ready for more. */
  release(): readonly PlacedPost[] {
    const posts = this.#ordering.release(this.#ranges.frontierMs);
    this.#isPausedByReader = posts.length > 0;
    return posts;
  }

  resume(): void {
    this.#isPausedByReader = false;
    this.#fill();
  }

  /** Resolves when a page has been read, or the walk is interrupted. */
  progress(): Promise<void> {
    return new Promise((resolve) => {
      this.#notify = resolve;
    });
  }

  /** Returns the last posts. Asks which reposts at the lower end of the range were made before it. */
  async settle(): Promise<readonly PlacedPost[]> {
    const ordering = this.#ordering;
    const isAsked = ordering.found - ordering.unsettled < this.#options.query.maxPosts;
    // If nothing had to be read, nobody knows yet whether the source can be entered.
    const mayJump = this.#jumps === 'work' || this.#reader.asked === 0;
    if (ordering.unsettled > 0 && isAsked && this.#failure === undefined && mayJump) {
      const { below, isSure } = await this.#readBelow();
      ordering.settle(below);
      if (isSure) this.#found?.settle(below);
    } else {
      ordering.settle(new Set());
    }
    return ordering.release(Number.NEGATIVE_INFINITY);
  }

  async #readBelow() {
    const place = { cursor: null, untilSeconds: this.#options.query.sinceSeconds };
    // All posts were read: any failure only leaves a doubt, which the warning names.
    const steady = await this.#reader.read(place).catch(() => undefined);
    if (steady?.isProved !== true) this.#warnings.add(unsettled);
    // A page from elsewhere says nothing of the posts below.
    const isThere = steady !== undefined && spanOf(steady.page, place).fromMs !== null;
    const reposts = isThere ? steady.page.items.filter((post) => !hasOwnTime(post)) : [];
    const below = new Set(reposts.flatMap((post) => postKey(post) ?? []));
    return { below, isSure: isThere && steady.isProved };
  }

  /** @throws the failure of the walk, if nothing was found */
  finish(): WalkEnd {
    const { kept } = this.#options;
    const failure = this.#failure;
    const isBearable = failure instanceof Problem && this.#ordering.found > 0;
    if (failure !== undefined && !isBearable) throw failure;
    const isKeptToEnd = kept.ranges.at(-1)?.fromSecond === Number.NEGATIVE_INFINITY;
    return {
      unread: joinRanges(this.#ranges.ranges.map(toSeconds)),
      uncertain: joinRanges(this.#uncertain.map(toSeconds)),
      isCut: this.#ordering.isCut,
      isAtEnd: this.#isAtEnd || isKeptToEnd,
      failure: failure ?? null,
      pages: this.#reader.asked,
      warnings: [...this.#warnings],
    };
  }

  /** Ends the walk, and returns what has been read for certain, is not kept yet, and will not change. */
  stop(): KeptPart {
    this.#stopped.abort();
    const { query, kept } = this.#options;
    const { fromSecond, toSecond } = secondsOf(query, this.#startMs);
    const settled = Math.floor(this.#startMs / 1000) - youngSeconds;
    const whole = { fromSecond, toSecond: Math.min(toSecond, settled) };
    const unsure = [...this.#ranges.ranges, ...this.#uncertain].map(toSeconds);
    const ranges = subtractRanges(whole, [...unsure, ...kept.ranges]);
    return { ranges, posts: this.#found?.within(ranges, this.#startMs) ?? [] };
  }

  #fill(): void {
    while (this.#active < this.#limit && !this.#isHeld) {
      const range = this.#next();
      if (range === undefined) return;
      range.isTaken = true;
      this.#active += 1;
      void this.#read(range);
    }
  }

  /** Each throttle halves how many pages are asked for at once. */
  get #limit(): number {
    // One page deeper down shows whether the timeline can be entered there.
    const concurrency = this.#jumps === 'unknown' ? 2 : this.#options.concurrency;
    return Math.max(1, Math.floor(concurrency / 2 ** this.#reader.throttles));
  }

  get #isHeld(): boolean {
    if (this.#failure !== undefined || this.#isStopped) return true;
    const { found, given } = this.#ordering;
    return this.#isPausedByReader && found - given >= maxAhead;
  }

  /** A page that is asked for now would fail at once, and the next one, without end. */
  get #isStopped(): boolean {
    return this.#stopped.signal.aborted || this.#options.signal.aborted;
  }

  /** Until one page is read nobody knows how dense the timeline is. */
  #next(): UnreadRange | undefined {
    const isKnown = this.#jumps === 'work' || (this.#jumps === 'unknown' && this.#rows > 0);
    if (isKnown) return planRange(this.#planning);
    const [first] = this.#ranges.ranges;
    return this.#active > 0 || first?.isTaken === true ? undefined : first;
  }

  async #read(range: UnreadRange): Promise<void> {
    const { query, pace } = this.#options;
    const isTop = query.untilSeconds === null && range.topMs >= this.#startMs;
    const entered = isTop ? null : Math.floor(range.topMs / 1000) + 1;
    const untilSeconds = range.cursor === null ? entered : query.untilSeconds;
    const place = { cursor: range.cursor, untilSeconds };
    const onDoubt = (first: Page<Post>) => void this.#doubt(range, place, first);
    try {
      const steady = await this.#reader.read(place, onDoubt);
      this.#density.learn(await pace);
      range.isTaken = false;
      this.#take(range, steady, place);
    } catch (error) {
      range.isTaken = false;
      if (!this.#isStopped) this.#failure ??= error;
    }
    this.#active -= 1;
    this.#fill();
    this.#notify();
  }

  /** Makes the part below a page that is asked for again available at once. */
  async #doubt(range: UnreadRange, place: PagePlace, page: Page<Post>): Promise<void> {
    const span = spanOf(page, place);
    const { cursor } = page;
    if (page.span === undefined || cursor === null || span.toMs === null) return;
    if (isRefused(place, span)) return;
    this.#density.learn(await this.#options.pace);
    this.#jumps = 'work';
    this.#ranges.split(range, { toMs: span.toMs, cursor });
    this.#fill();
  }

  #take(range: UnreadRange, { page, isProved }: SteadyPage, place: PagePlace): void {
    const { cursor } = page;
    const span = spanOf(page, place);
    const toMs = span.toMs ?? range.topMs;
    const refused = isRefused(place, span);
    const topMs = span.fromMs ?? Math.min(range.topMs, this.#options.clock.now());
    this.#note(page, span, { topMs, bottomMs: toMs });
    if (!isProved && !refused) {
      this.#uncertain.push({ topMs, bottomMs: cursor === null ? range.bottomMs : toMs });
    }
    if (showsJump(page, place)) this.#jumps = 'work';
    if (cursor === null) this.#takeEnd(range, oldestOf(page.items, span));
    else if (refused) this.#takeRefused(range, { toMs, cursor });
    else this.#advance(range, { toMs, cursor }, page);
  }

  #advance(range: UnreadRange, reached: Reached, page: Page<Post>): void {
    const before = range.cursor;
    this.#ends.push(reached);
    this.#ranges.advance(range, reached);
    if (rowsOf(page) > 0 && reached.cursor !== before) range.idlePages = 0;
    if (range.idlePages > maxIdlePages) this.#giveUp(range);
  }

  /** Notes the posts of a page, wherever it leads, and the time that they fill. */
  #note(page: Page<Post>, span: PageSpan, filled: TimeRange): void {
    const rows = rowsOf(page);
    this.#rows += rows;
    if (rows > 0) this.#density.add(filled, rows);
    this.#oldestSecond = Math.min(this.#oldestSecond, oldestOf(page.items, span));
    for (const warning of page.warnings) this.#warnings.add(warning);
    const before = this.#ordering.found;
    this.#ordering.add(page.items, span);
    this.#found?.add(page.items, span);
    this.#matched += this.#ordering.found - before;
  }

  /** Continues from above, because the source gave its newest page in place of the one asked for. */
  #takeRefused(range: UnreadRange, top: Reached): void {
    if (this.#jumps === 'unknown') {
      this.#jumps = 'fail';
      this.#ranges.joinEntered();
    }
    if (this.#ranges.joinAbove(range)) return;
    const ends = this.#ends.toSorted((a, b) => a.toMs - b.toMs);
    const inside = ends.find(({ toMs }) => toMs <= range.topMs && toMs >= range.bottomMs);
    const nearest = inside ?? ends.find(({ toMs }) => toMs > range.topMs);
    this.#ranges.advance(range, nearest ?? top);
  }

  /** A page that says it is the last one is not believed if others were found below it. */
  #takeEnd(range: UnreadRange, oldestSecond: number): void {
    if (this.#oldestSecond < Math.min(oldestSecond, Math.floor(range.topMs / 1000))) {
      this.#giveUp(range);
    } else {
      this.#isAtEnd = true;
      this.#ranges.end(range);
    }
  }

  #giveUp(range: UnreadRange): void {
    this.#uncertain.push({ ...range });
    this.#ranges.remove(range);
  }
}

function isRefused(place: PagePlace, { fromMs }: PageSpan): boolean {
  return place.cursor === null && place.untilSeconds !== null && fromMs === null;
}

/** Returns whether a page shows that its source can be entered at a moment. */
function showsJump(page: Page<Post>, place: PagePlace): boolean {
  const span = spanOf(page, place);
  if (isRefused(place, span)) return false;
  return page.span !== undefined || (place.cursor === null && span.fromMs !== null);
}

/** What is younger is read again by the next import: sources show posts late, and authors delete them early. */
const youngSeconds = 900;

function toUnread(query: HistoryQuery, kept: KeptPart, nowMs: number): readonly TimeRange[] {
  const topMs = query.untilSeconds === null ? nowMs : query.untilSeconds * 1000 - 1;
  return subtractRanges(secondsOf(query, nowMs), kept.ranges).map(({ fromSecond, toSecond }) => ({
    topMs: Math.min(toSecond * 1000 + 999, topMs),
    bottomMs: fromSecond * 1000,
  }));
}
