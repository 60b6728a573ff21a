import { setMaxListeners } from 'node:events';
import { Problem } from '../../core/problem.ts';
import type { PageSpan } from '../../model/queries.ts';
import { type SecondRange, subtractRanges } from '../../platforms/second-ranges.ts';
import { postKey } from '../cache/post-key.ts';
import { createDensity, type Density } from './density.ts';
import { createFoundPosts, type FoundPosts } from './found-posts.ts';
import { secondsOf } from './kept-part.ts';
import { createOrdering, type Ordering, type PlacedPost } from './ordering.ts';
import { createPageReader, type PageReader } from './page-reader.ts';
import { hasOwnTime, isEntered, oldestOf, type PagePlace, rowsOf, spanOf } from './page-span.ts';
import { createRangePlanner, type RangePlanner } from './range-planner.ts';
import type { AskedPage, SteadyPage } from './steady-page.ts';
import { mergeRanges, type TimeRange, toMoments, toSeconds } from './time-range.ts';
import {
  createUnreadRanges,
  type Reached,
  type UnreadRange,
  type UnreadRanges,
} from './unread-ranges.ts';
import type { WalkEnd, Walked, WalkOptions } from './walk.ts';

/** Who waits for a slow reader: with so many posts ahead of them no more pages are asked for. */
const maxAhead = 1000;

/** After so many pages that bring it nowhere a range is given up. */
const maxIdlePages = 8;

/** Told where the source gave no sure answer to that: the posts that were found stand. */
const unsettled = 'The oldest reposts may have been made before `since`; the source did not tell.';

/** One walk. Pages settle in any order; what they change is told by `progress`. */
export class Walking {
  readonly #options: WalkOptions;
  readonly #startMs: number;
  readonly #ranges: UnreadRanges;
  readonly #ordering: Ordering;
  /** `null` where nothing is kept, so that posts are forgotten once they are sent. */
  readonly #found: FoundPosts | null;
  readonly #density: Density;
  readonly #planner: RangePlanner;
  readonly #reader: PageReader;
  readonly #stopped = new AbortController();
  readonly #uncertain: TimeRange[] = [];
  readonly #warnings = new Set<string>();
  readonly #ends: { readonly toMs: number; readonly cursor: string }[] = [];
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
    const { query, kept } = options;
    this.#options = options;
    this.#startMs = options.clock.now();
    this.#ranges = createUnreadRanges(toUnread(options, this.#startMs));
    this.#ordering = createOrdering(query);
    this.#ordering.addKept(kept.posts);
    this.#found = options.onWalked === undefined ? null : createFoundPosts(query);
    const own = kept.posts.filter(({ post }) => hasOwnTime(post));
    this.#oldestSecond = Math.min(
      ...own.slice(-1).map(({ second }) => second),
      Number.POSITIVE_INFINITY,
    );
    this.#density = createDensity();
    const signal = AbortSignal.any([options.signal, this.#stopped.signal]);
    setMaxListeners(0, signal); // as many as there are pages at once
    this.#reader = createPageReader({ ...options, signal });
    this.#planner = createRangePlanner({
      ranges: this.#ranges,
      density: this.#density,
      wantedBelow: (ms) => options.query.maxPosts - this.#ordering.foundAbove(ms),
      share: () => (this.#rows === 0 ? 1 : this.#matched / this.#rows),
    });
    options.signal.addEventListener('abort', () => this.#notify(), { signal });
    this.#fill();
  }

  get isOver(): boolean {
    if (this.#options.signal.aborted) return true;
    if (this.#ordering.given >= this.#options.query.maxPosts) return true;
    // What is under way when it fails is still good.
    return this.#active === 0;
  }

  /** Gives the posts that are in order up to here. Until `resume` their reader is not ready for more. */
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
  async progress(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#notify = resolve;
    });
  }

  /** Gives the last posts: of reposts at the lower end it is asked which were made before it. */
  async settle(): Promise<readonly PlacedPost[]> {
    const ordering = this.#ordering;
    const isAsked = ordering.found - ordering.unsettled < this.#options.query.maxPosts;
    if (ordering.unsettled > 0 && isAsked && this.#failure === undefined && this.#mayJump) {
      const { below, isSure } = await this.#readBelow();
      ordering.settle(below);
      if (isSure) this.#found?.settle(below);
    } else {
      ordering.settle(new Set());
    }
    return ordering.release(Number.NEGATIVE_INFINITY);
  }

  /** Gives which reposts stand right below the range, and whether that is sure. */
  async #readBelow(): Promise<{ readonly below: ReadonlySet<string>; readonly isSure: boolean }> {
    const place = { cursor: null, untilSeconds: this.#options.query.sinceSeconds };
    const steady = await this.#reader.read(place).catch(() => undefined);
    if (steady?.isProved !== true) this.#warnings.add(unsettled);
    // A page from elsewhere says nothing of what is below.
    const isThere = steady !== undefined && spanOf(steady.page, place).fromMs !== null;
    const reposts = isThere ? steady.page.items.filter((post) => !hasOwnTime(post)) : [];
    const below = new Set(reposts.flatMap((post) => postKey(post) ?? []));
    return { below, isSure: isThere && steady.isProved };
  }

  /** @throws what the walk failed with, where nothing was found */
  finish(): WalkEnd {
    const failure = this.#failure;
    const isNothing = this.#ordering.found === 0;
    if (failure !== undefined && (isNothing || !(failure instanceof Problem))) throw failure;
    return {
      unread: mergeRanges(this.#ranges.ranges),
      uncertain: mergeRanges(this.#uncertain.toSorted((a, b) => b.topMs - a.topMs)),
      isCut: this.#ordering.isCut,
      isAtEnd: this.#isAtEnd || this.#isKeptToEnd,
      failure: failure === undefined ? null : (failure as Problem),
      pages: this.#reader.asked,
      warnings: [...this.#warnings],
    };
  }

  /** Gives what has been read for sure. */
  walked(): Walked {
    const unsure = [...this.#ranges.ranges, ...this.#uncertain];
    const ranges = toSettled(this.#options, this.#startMs, unsure);
    return { ranges, posts: this.#found?.within(ranges, this.#startMs) ?? [] };
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Where nothing had to be read, nobody knows yet. */
  get #mayJump(): boolean {
    return this.#jumps === 'work' || this.#reader.asked === 0;
  }

  get #isKeptToEnd(): boolean {
    return this.#options.kept.ranges.at(-1)?.fromSecond === Number.NEGATIVE_INFINITY;
  }

  /** Each throttle halves how many pages are asked for at once. */
  get #limit(): number {
    // One page deeper down tells whether the timeline can be entered there.
    const concurrency = this.#jumps === 'unknown' ? 2 : this.#options.concurrency;
    return Math.max(1, Math.floor(concurrency / 2 ** this.#reader.throttles));
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

  get #isHeld(): boolean {
    if (this.#failure !== undefined || this.#stopped.signal.aborted) return true;
    const { found, given } = this.#ordering;
    return this.#isPausedByReader && found - given >= maxAhead;
  }

  /** Until one page is read nobody knows how dense the timeline is. */
  #next(): UnreadRange | undefined {
    const isKnown = this.#jumps === 'work' || (this.#jumps === 'unknown' && this.#rows > 0);
    if (isKnown) return this.#planner.next();
    const [first] = this.#ranges.ranges;
    return this.#active > 0 || first?.isTaken === true ? undefined : first;
  }

  async #read(range: UnreadRange): Promise<void> {
    const { untilSeconds } = this.#options.query;
    const isTop = untilSeconds === null && range.topMs >= this.#startMs;
    const entered = isTop ? null : Math.floor(range.topMs / 1000) + 1;
    const place = {
      cursor: range.cursor,
      untilSeconds: range.cursor === null ? entered : untilSeconds,
    };
    try {
      const steady = await this.#reader.read(
        place,
        (first) => void this.#doubt(range, place, first),
      );
      this.#density.learn(await this.#options.pace);
      range.isTaken = false;
      this.#take(range, steady, place);
    } catch (error) {
      range.isTaken = false;
      if (!this.#stopped.signal.aborted && !this.#options.signal.aborted) this.#failure ??= error;
    }
    this.#active -= 1;
    this.#fill();
    this.#notify();
  }

  /** What is below a page that is asked for again need not wait for it. */
  async #doubt(range: UnreadRange, place: PagePlace, { page }: AskedPage): Promise<void> {
    const { toMs, fromMs } = spanOf(page, place);
    const isRefused = place.cursor === null && place.untilSeconds !== null && fromMs === null;
    if (page.span === undefined || page.cursor === null || toMs === null || isRefused) return;
    this.#density.learn(await this.#options.pace);
    this.#jumps = 'work';
    this.#ranges.divide(range, { toMs, cursor: page.cursor });
    this.#fill();
  }

  #take(range: UnreadRange, steady: SteadyPage, place: PagePlace): void {
    const { cursor } = steady.page;
    const span = spanOf(steady.page, place);
    const toMs = span.toMs ?? range.topMs;
    const isRefused = place.cursor === null && place.untilSeconds !== null && span.fromMs === null;
    this.#note({ range, steady, span, isRefused });
    if (!isRefused && (steady.page.span !== undefined || isEntered(place, span))) {
      this.#jumps = 'work';
    }
    if (cursor === null) this.#takeEnd(range, oldestOf(steady.page.items, span));
    else if (isRefused) this.#takeRefused(range, { toMs, cursor });
    else this.#advance(range, { steady, place, reached: { toMs, cursor } });
  }

  #advance(range: UnreadRange, { steady: { page }, place, reached }: TakenPage): void {
    this.#ends.push(reached);
    this.#ranges.advance(range, reached);
    const isIdle = rowsOf(page) === 0 || page.cursor === place.cursor;
    if (!isIdle) range.idlePages = 0;
    if (range.idlePages > maxIdlePages) this.#giveUp(range);
  }

  /** Notes what a page has, wherever it leads. */
  #note({ range, steady, span, isRefused }: NotedPage): void {
    const { page, isProved } = steady;
    const rows = rowsOf(page);
    const toMs = span.toMs ?? range.topMs;
    const topMs = span.fromMs ?? Math.min(range.topMs, this.#options.clock.now());
    this.#rows += rows;
    if (rows > 0) this.#density.add({ rows, toMs, lengthMs: topMs - toMs });
    this.#oldestSecond = Math.min(this.#oldestSecond, oldestOf(page.items, span));
    for (const warning of page.warnings) this.#warnings.add(warning);
    const before = this.#ordering.found;
    this.#ordering.add(page.items, span);
    this.#found?.add(page.items, span);
    this.#matched += this.#ordering.found - before;
    const bottomMs = page.cursor === null ? range.bottomMs : toMs;
    if (!isProved && !isRefused) this.#uncertain.push({ topMs, bottomMs });
  }

  /** The source gave its newest page, where another was asked for: the chain from above leads there. */
  #takeRefused(range: UnreadRange, top: { readonly toMs: number; readonly cursor: string }): void {
    if (this.#jumps === 'unknown') {
      this.#jumps = 'fail';
      this.#ranges.joinEntered();
    }
    if (this.#ranges.joinAbove(range)) return;
    const inside = this.#ends.filter(({ toMs }) => toMs <= range.topMs && toMs >= range.bottomMs);
    const above = this.#ends.filter(({ toMs }) => toMs > range.topMs);
    const [nearest] = [
      ...inside.toSorted((a, b) => a.toMs - b.toMs),
      ...above.toSorted((a, b) => a.toMs - b.toMs),
    ];
    this.#ranges.advance(range, nearest ?? top);
  }

  /** A page that says it is the last one is not believed where others were found below it. */
  #takeEnd(range: UnreadRange, oldestSecond: number): void {
    if (this.#oldestSecond < Math.min(oldestSecond, Math.floor(range.topMs / 1000))) {
      this.#giveUp(range);
      return;
    }
    this.#isAtEnd = true;
    this.#ranges.end(range);
  }

  #giveUp(range: UnreadRange): void {
    const { topMs, bottomMs } = range;
    this.#uncertain.push({ topMs, bottomMs });
    this.#ranges.remove(range);
  }
}

interface TakenPage extends Pick<NotedPage, 'steady'> {
  readonly place: PagePlace;
  readonly reached: Reached;
}

interface NotedPage {
  readonly range: UnreadRange;
  readonly steady: SteadyPage;
  readonly span: PageSpan;
  readonly isRefused: boolean;
}

/** What is younger is read again by the next import: sources show posts late, and authors delete them early. */
const youngSeconds = 900;

type Bounds = Pick<WalkOptions, 'query' | 'kept'>;

/** Gives what is asked for and not kept, newest first. */
function toUnread({ query, kept }: Bounds, nowMs: number): readonly TimeRange[] {
  const whole = secondsOf(query, nowMs);
  const topMs = query.untilSeconds === null ? nowMs : query.untilSeconds * 1000 - 1;
  return subtractRanges(whole, kept.ranges)
    .map(toMoments)
    .map((range) => ({ ...range, topMs: Math.min(range.topMs, topMs) }));
}

/** Gives what of a query is read, neither kept nor unsure, and will not change: newest first. */
function toSettled(
  { query, kept }: Bounds,
  nowMs: number,
  unsure: readonly TimeRange[],
): readonly SecondRange[] {
  const { fromSecond, toSecond } = secondsOf(query, nowMs);
  const settled = Math.floor(nowMs / 1000) - youngSeconds;
  const whole = { fromSecond, toSecond: Math.min(toSecond, settled) };
  return subtractRanges(whole, [...unsure.map(toSeconds), ...kept.ranges]);
}
