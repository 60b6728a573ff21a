import { setMaxListeners } from 'node:events';
import type { StoredPart } from '../../archive/histories/history-store.ts';
import { Problem } from '../../lib/problem.ts';
import type { Post } from '../../model/post.ts';
import type { Page, PageSpan } from '../../model/queries.ts';
import { joinRanges, type SecondRange, subtractRanges } from '../../normalize/times.ts';
import { postKey } from '../cache/subjects.ts';
import type { HistoryQuery } from './history-result.ts';
import { createOrdering, createPostCollector, type PlacedPost } from './ordering.ts';
import {
  type CheckedPage,
  createPageReader,
  hasOwnTime,
  isEmptyEnd,
  isSeekIgnored,
  oldestOf,
  type PagePlace,
  type PageReader,
  type PageReaderOptions,
  provesSeek,
  rowsOf,
  spanOf,
} from './page-reader.ts';
import {
  type AccountPace,
  createDensityEstimate,
  createUnreadRanges,
  type PlannerOptions,
  planRange,
  type Reached,
  type TimeRange,
  toSeconds,
  type UnreadRange,
} from './range-planner.ts';
import { secondsOf, toUnreadRanges } from './stored-history.ts';

export interface HistoryReadOptions extends PageReaderOptions {
  readonly query: HistoryQuery;
  readonly concurrency: number;
  readonly pace: Promise<AccountPace>;
  /** Part of the timeline from earlier imports, which is not requested again. */
  readonly stored: StoredPart;
  /** Called once, at the end of the read, with the completely read time ranges and their posts. */
  readonly onRead?: ((read: StoredPart) => Promise<void>) | undefined;
}

export interface HistoryReadResult {
  /** Parts of the range that were not read, newest first, including the part after `maxPosts`. */
  readonly unread: readonly SecondRange[];
  /** Time ranges that may lack posts, because the source returned short pages at every attempt. */
  readonly uncertain: readonly SecondRange[];
  readonly isCut: boolean;
  readonly isAtEnd: boolean;
  /** Failure that ended the read early; `null` if the read was completed or interrupted. */
  readonly failure: Problem | null;
  readonly pages: number;
  readonly warnings: readonly string[];
}

/**
 * Yields the posts of an account in a time range, newest first, without duplicates. Reads several
 * parts concurrently if the source supports seeking by time.
 * @throws Problem (see `ProviderChain.fetch`) if the source fails before any posts are found; later
 *   failures are part of the result
 */
export async function* streamHistory(
  options: HistoryReadOptions,
): AsyncGenerator<readonly PlacedPost[], HistoryReadResult> {
  const reader = new HistoryReader(options);
  try {
    while (!reader.isOver) {
      const posts = reader.release();
      if (posts.length > 0) {
        yield posts;
        reader.resume();
      } else {
        await reader.progress();
      }
    }
    const last = await reader.resolveReposts();
    if (last.length > 0) yield last;
    return reader.finish();
  } finally {
    await options.onRead?.(reader.stop());
  }
}

const maxBufferedPosts = 1000;

const maxIdlePages = 8; // after this many pages without progress a range is abandoned

const unresolvedWarning =
  'The oldest reposts may be from before `since`, because the source does not report their times.';

class HistoryReader {
  readonly #options: HistoryReadOptions;
  readonly #startMs: number;
  readonly #ranges: ReturnType<typeof createUnreadRanges>;
  readonly #ordering: ReturnType<typeof createOrdering>;
  /** Fetched posts to store at the end of the read; `undefined` if nothing will be stored. */
  readonly #collected: ReturnType<typeof createPostCollector> | undefined;
  readonly #density = createDensityEstimate();
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
  #seekSupport: 'unknown' | 'works' | 'fails' = 'unknown';
  #isPausedByConsumer = false;
  #isAtEnd = false;
  #failure: unknown;

  constructor(options: HistoryReadOptions) {
    const { query, stored, clock, signal } = options;
    this.#options = options;
    this.#startMs = clock.now();
    this.#ranges = createUnreadRanges(toUnreadRanges(query, stored, this.#startMs));
    this.#ordering = createOrdering(query);
    this.#ordering.addStored(stored.posts);
    this.#collected = options.onRead && createPostCollector(query);
    const oldestStored = stored.posts.findLast(({ post }) => hasOwnTime(post));
    this.#oldestSecond = oldestStored?.second ?? Number.POSITIVE_INFINITY;
    const readSignal = AbortSignal.any([signal, this.#stopped.signal]);
    setMaxListeners(0, readSignal); // one listener per concurrent page
    this.#reader = createPageReader({ ...options, signal: readSignal });
    this.#planning = {
      ranges: this.#ranges,
      density: this.#density,
      wantedBelow: (ms) => query.maxPosts - this.#ordering.foundAbove(ms),
      postsLeft: () => this.#density.accountPosts - this.#ordering.found,
      wantedShare: () => (this.#rows === 0 ? 1 : this.#matched / this.#rows),
    };
    signal.addEventListener('abort', () => this.#notify(), { signal: readSignal });
    this.#fill();
  }

  get isOver(): boolean {
    if (this.#options.signal.aborted) return true;
    if (this.#ordering.sent >= this.#options.query.maxPosts) return true;
    // After a failure, pages in flight are still used.
    return this.#active === 0;
  }

  /** Releases the next posts in order. Reading then pauses at `maxBufferedPosts` until `resume`. */
  release(): readonly PlacedPost[] {
    const posts = this.#ordering.release(this.#ranges.frontierMs);
    this.#isPausedByConsumer = posts.length > 0;
    return posts;
  }

  resume(): void {
    this.#isPausedByConsumer = false;
    this.#fill();
  }

  /** Returns a promise that resolves when a page has been read or the read is interrupted. */
  progress(): Promise<void> {
    return new Promise((resolve) => {
      this.#notify = resolve;
    });
  }

  /** Returns the last posts without older reposts. Reads the next older page if necessary. */
  async resolveReposts(): Promise<readonly PlacedPost[]> {
    const ordering = this.#ordering;
    const isNeeded = ordering.found - ordering.unresolved < this.#options.query.maxPosts;
    // If everything was stored, it is unknown yet whether the source supports seeking.
    const canSeek = this.#seekSupport === 'works' || this.#reader.requests === 0;
    if (ordering.unresolved > 0 && isNeeded && this.#failure === undefined && canSeek) {
      const { below, isSure } = await this.#readBelow();
      ordering.resolveReposts(below);
      if (isSure) this.#collected?.resolveReposts(below);
    } else {
      ordering.resolveReposts(new Set());
    }
    return ordering.release(Number.NEGATIVE_INFINITY);
  }

  async #readBelow() {
    const place = { cursor: null, untilSeconds: this.#options.query.sinceSeconds };
    // All requested posts were read, so a failure of this request only adds a warning.
    const verified = await this.#reader.read(place).catch(() => undefined);
    if (verified?.isVerified !== true) this.#warnings.add(unresolvedWarning);
    // A page of another time has no information about these reposts.
    const isThere = verified !== undefined && spanOf(verified.page, place).fromMs !== null;
    const reposts = isThere ? verified.page.items.filter((post) => !hasOwnTime(post)) : [];
    const below = new Set(reposts.flatMap((post) => postKey(post) ?? []));
    return { below, isSure: isThere && verified.isVerified };
  }

  /** Returns the result, with a Problem if posts were found. @throws any other failure */
  finish(): HistoryReadResult {
    const { stored } = this.#options;
    const failure = this.#failure;
    const hasPartialResult = failure instanceof Problem && this.#ordering.found > 0;
    if (failure !== undefined && !hasPartialResult) throw failure;
    const isStoredToEnd = stored.ranges.at(-1)?.fromSecond === Number.NEGATIVE_INFINITY;
    return {
      unread: joinRanges(this.#ranges.ranges.map(toSeconds)),
      uncertain: joinRanges(this.#uncertain.map(toSeconds)),
      isCut: this.#ordering.isCut,
      isAtEnd: this.#isAtEnd || isStoredToEnd,
      failure: failure ?? null,
      pages: this.#reader.requests,
      warnings: [...this.#warnings],
    };
  }

  /** Stops reading. Returns complete ranges to archive, except the last 15 minutes before start. */
  stop(): StoredPart {
    this.#stopped.abort();
    const { query, stored } = this.#options;
    const { fromSecond, toSecond } = secondsOf(query, this.#startMs);
    const stableSecond = Math.floor(this.#startMs / 1000) - recentSeconds;
    const whole = { fromSecond, toSecond: Math.min(toSecond, stableSecond) };
    const unsure = [...this.#ranges.ranges, ...this.#uncertain].map(toSeconds);
    const ranges = subtractRanges(whole, [...unsure, ...stored.ranges]);
    return { ranges, posts: this.#collected?.within(ranges, this.#startMs) ?? [] };
  }

  #fill(): void {
    while (this.#active < this.#limit && !this.#isPaused) {
      const range = this.#next();
      if (range === undefined) return;
      range.isBeingRead = true;
      this.#active += 1;
      void this.#read(range);
    }
  }

  /** Maximum number of concurrent requests. Halved whenever the upstream reports a rate limit. */
  get #limit(): number {
    // A second, older page shows whether the source supports seeking by time.
    const concurrency = this.#seekSupport === 'unknown' ? 2 : this.#options.concurrency;
    return Math.max(1, Math.floor(concurrency / 2 ** this.#reader.throttles));
  }

  get #isPaused(): boolean {
    if (this.#failure !== undefined || this.#isStopped) return true;
    const { found, sent } = this.#ordering;
    return this.#isPausedByConsumer && found - sent >= maxBufferedPosts;
  }

  /** Whether the read was stopped or aborted. From then on, each page request fails immediately. */
  get #isStopped(): boolean {
    return this.#stopped.signal.aborted || this.#options.signal.aborted;
  }

  /** Returns the next range to read now. Before the first posts, ranges are read one at a time. */
  #next(): UnreadRange | undefined {
    const isKnown =
      this.#seekSupport === 'works' || (this.#seekSupport === 'unknown' && this.#rows > 0);
    if (isKnown) return planRange(this.#planning);
    const [first] = this.#ranges.ranges;
    return this.#active > 0 || first?.isBeingRead === true ? undefined : first;
  }

  async #read(range: UnreadRange): Promise<void> {
    const { query, pace } = this.#options;
    const isTop = query.untilSeconds === null && range.topMs >= this.#startMs;
    const entered = isTop ? null : Math.floor(range.topMs / 1000) + 1;
    const untilSeconds = range.cursor === null ? entered : query.untilSeconds;
    const place = { cursor: range.cursor, untilSeconds };
    const isProbe = this.#ranges.isSplitOff(range);
    const onDoubt = (first: Page<Post>) => void this.#splitBelow(range, place, first);
    try {
      const verified = await this.#reader.read(place, { isProbe, onDoubt });
      this.#density.setPace(await pace);
      range.isBeingRead = false;
      if (isProbe && isEmptyEnd(verified.page)) this.#dropProbe(range);
      else this.#addPage(range, verified, place);
    } catch (error) {
      range.isBeingRead = false;
      if (!this.#isStopped) this.#failure ??= error;
    }
    this.#active -= 1;
    this.#fill();
    this.#notify();
  }

  /** Splits `range` below the incomplete `page`, so that both parts can be read concurrently. */
  async #splitBelow(range: UnreadRange, place: PagePlace, page: Page<Post>): Promise<void> {
    const span = spanOf(page, place);
    const { cursor } = page;
    if (page.span === undefined || cursor === null || span.toMs === null) return;
    if (isSeekIgnored(place, span)) return;
    this.#density.setPace(await this.#options.pace);
    this.#seekSupport = 'works';
    this.#ranges.split(range, { toMs: span.toMs, cursor });
    this.#fill();
  }

  #addPage(range: UnreadRange, { page, isVerified }: CheckedPage, place: PagePlace): void {
    const { cursor } = page;
    const span = spanOf(page, place);
    const toMs = span.toMs ?? range.topMs;
    const isIgnored = isSeekIgnored(place, span);
    const topMs = span.fromMs ?? Math.min(range.topMs, this.#options.clock.now());
    this.#recordPosts(page, span, { topMs, bottomMs: toMs });
    if (!isVerified && !isIgnored) {
      this.#uncertain.push({ topMs, bottomMs: cursor === null ? range.bottomMs : toMs });
    }
    if (provesSeek(page, place)) this.#seekSupport = 'works';
    if (cursor === null) this.#endAt(range, oldestOf(page.items, span));
    else if (isIgnored) this.#takeIgnoredSeek(range, { toMs, cursor });
    else this.#advance(range, { toMs, cursor }, page);
  }

  #advance(range: UnreadRange, reached: Reached, page: Page<Post>): void {
    const before = range.cursor;
    this.#ends.push(reached);
    this.#ranges.advance(range, reached);
    if (rowsOf(page) > 0 && reached.cursor !== before) range.idlePages = 0;
    if (range.idlePages > maxIdlePages) this.#giveUp(range);
  }

  #recordPosts(page: Page<Post>, span: PageSpan, filled: TimeRange): void {
    const rows = rowsOf(page);
    this.#rows += rows;
    if (rows > 0) this.#density.add(filled, rows);
    this.#oldestSecond = Math.min(this.#oldestSecond, oldestOf(page.items, span));
    for (const warning of page.warnings) this.#warnings.add(warning);
    const before = this.#ordering.found;
    this.#ordering.add(page.items, span);
    this.#collected?.add(page.items, span);
    this.#matched += this.#ordering.found - before;
  }

  /** Merges `range` into the next newer range, or continues it at an earlier page end or `top`. */
  #takeIgnoredSeek(range: UnreadRange, top: Reached): void {
    if (this.#seekSupport === 'unknown') {
      this.#seekSupport = 'fails';
      this.#ranges.mergeSeekRanges();
    }
    this.#density.setFloor(range.topMs);
    if (this.#ranges.mergeIntoAbove(range)) return;
    const ends = this.#ends.toSorted((a, b) => a.toMs - b.toMs);
    const inside = ends.find(({ toMs }) => toMs <= range.topMs && toMs >= range.bottomMs);
    const nearest = inside ?? ends.find(({ toMs }) => toMs > range.topMs);
    this.#ranges.advance(range, nearest ?? top);
  }

  /** Merges a range after an empty page into the newer one, because the page may be a mistake. */
  #dropProbe(range: UnreadRange): void {
    this.#density.setFloor(range.topMs);
    if (this.#ranges.isSplitOff(range)) this.#ranges.mergeIntoAbove(range);
  }

  /** Removes `range` and all older ones or, if older posts are known, records it as incomplete. */
  #endAt(range: UnreadRange, oldestSecond: number): void {
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

const recentSeconds = 900;
