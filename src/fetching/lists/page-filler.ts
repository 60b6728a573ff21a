import { Problem } from '../../lib/problem.ts';
import type { Page } from '../../model/queries.ts';
import type { ListItem, ListPosition } from './fetch-page.ts';
import { type ItemPlaces, type PlacedItems, skipPlaces } from './item-places.ts';
import { createSentItems, type SentItems } from './sent-items.ts';

export interface SourcedPage {
  readonly page: Page<ListItem>;
  readonly source: string;
  readonly degraded: boolean;
  readonly isLocal: boolean;
  readonly requestedMs: number;
}

/** Reader of the upstream page at a cursor; `bypassCache` skips the cache. @throws Problem */
export type ReadPage = (at: {
  cursor: string | null;
  count: number;
  bypassCache: boolean;
}) => Promise<SourcedPage>;

export interface FillOptions {
  readonly position: ListPosition;
  readonly sent: readonly number[] | undefined;
  /** Whether new items are added at the start. If false, the order of items can change. */
  readonly isNewestFirst: boolean;
  readonly skip: number;
  readonly limit: number;
  readonly page: number;
}

/** Page of a list. It is not full if the list has no more items or the read stopped early. */
export interface FilledPage {
  readonly items: readonly ListItem[];
  readonly next: ListPosition | null;
  /** Hashes of the items up to the end of this page, in list order. The earliest may be missing. */
  readonly sent: readonly number[];
  /** Hashes of the items before the page, in list order. The earliest may be missing. */
  readonly sentBefore: readonly number[];
  readonly places: ItemPlaces;
  readonly warnings: readonly string[];
  /** Whether the page is complete. If false, the source failed or may have more items. */
  readonly isComplete: boolean;
  readonly read: readonly SourcedPage[];
  readonly leftover: SourcedPage | undefined;
}

/**
 * Reads upstream pages until the client's page is full. Omits items of the client's earlier pages.
 * Requests suspiciously short pages again.
 * @throws Problem if the first upstream page cannot be read, or if a later one fails for a reason
 *   other than an outage; `upstream_unavailable` if the read stops before it has skipped
 *   `options.skip` items
 */
export async function fillPage(read: ReadPage, options: FillOptions): Promise<FilledPage> {
  const filler = new PageFiller(read, options);
  try {
    while (filler.isRunning) await filler.step();
  } catch (error) {
    // After an outage the items found so far are returned. A deleted account is an error.
    const isOutage = error instanceof Problem && error.status >= 500;
    if (!isOutage || filler.isAtStart) throw error;
    filler.stopAfterFailure(error);
  }
  return filler.finish();
}

const maxRequests = 200;
const retriesPerPage = 4; // of each page that looks incomplete
const maxRetries = 60; // of all pages that have rows but look incomplete
const maxIdlePages = 4; // consecutive upstream pages without new items; the next read continues

const fruitlessWeights = { found: 1, cut: 2, idle: 6 } as const;
const maxFruitless = 120; // total weight at which the list ends
const enoughFruitless = 6; // total weight above which pages are accepted without retries

const shortWarning =
  'The source returned fewer posts or accounts than expected, even after retries. Some may be missing here.';
const idleWarning =
  'The source returns empty or repeated pages although it reports more items. The next page continues here.';
const hopelessWarning =
  'The source reports more items but has returned no new items for many pages. The list ends here and may be incomplete.';
const slowWarning = 'This page took too many requests to fill. The next page continues here.';

/** Collector of one list page. Call `step` while `isRunning` is true, then `finish` once. */
class PageFiller {
  readonly #readPage: ReadPage;
  readonly #options: FillOptions;
  readonly #goal: number;
  readonly #items: ListItem[] = [];
  readonly #sent: SentItems;
  readonly #visited = new Set<string>();
  readonly #warnings = new Set<string>();
  readonly #read: SourcedPage[] = [];
  readonly #places: PlacedItems[] = [];
  #cursor: string | null;
  #taken: number;
  #requests = 0;
  #retriesLeft = maxRetries;
  #idlePages = 0;
  #state: 'going' | 'full' | 'paused' | 'cut' | 'ended' = 'going';
  #foundSomething = false;
  #hasDoubt = false;

  constructor(readPage: ReadPage, options: FillOptions) {
    const { position, sent, skip, limit } = options;
    this.#readPage = readPage;
    this.#options = options;
    this.#goal = skip + limit;
    this.#sent = createSentItems(position, sent);
    this.#cursor = position.cursor;
    this.#taken = position.taken;
    if (position.cursor !== null) this.#visited.add(position.cursor);
  }

  get isRunning(): boolean {
    return this.#state === 'going';
  }

  get isAtStart(): boolean {
    return this.#read.length === 0;
  }

  async step(): Promise<void> {
    const { sourced, failure } = await this.#readWithRetries();
    const { page } = sourced;
    this.#read.push(sourced);
    for (const warning of page.warnings) this.#warnings.add(warning);
    if (this.#isTruncated(page) && this.#options.position.fruitless === 0) {
      this.#pause(shortWarning);
      return;
    }
    const place = { taken: this.#taken, isNewestFirst: this.#options.isNewestFirst };
    const fresh = page.isExact
      ? page.items.slice(this.#taken)
      : this.#sent.freshOf(page.items, place);
    this.#countIdlePages(page, fresh.length);
    const wanted = fresh.slice(0, this.#goal - this.#items.length);
    this.#items.push(...wanted);
    if (!page.isExact) this.#sent.add(wanted);
    const { cursor: from, taken } = { cursor: this.#cursor, taken: this.#taken };
    if (wanted.length < fresh.length) {
      this.#taken += wanted.length;
      this.#state = 'full';
    } else if (failure !== undefined) {
      // The rest of the page is unknown, so the next read continues on the same page.
      this.#taken += fresh.length;
      this.stopAfterFailure(failure);
    } else {
      this.#advance(page);
    }
    const next = this.#state === 'ended' ? null : page.cursor;
    this.#places.push({ cursor: from, taken, count: wanted.length, rows: rowsOf(page), next });
  }

  /** Ends the read after a failure of the source. `finish` then returns the items found so far. */
  stopAfterFailure(problem: Problem): void {
    this.#warnings.add(
      `The source failed before the page was full: ${problem.message} The next page continues here.`,
    );
    this.#state = 'cut';
  }

  /** Returns the page without the first `skip` items. @throws Problem if fewer were read */
  finish(): FilledPage {
    const { skip, page, position, sent } = this.#options;
    const isStopped = this.#state === 'cut' || this.#state === 'paused';
    if (isStopped && this.#items.length < skip) {
      const detail = `The pages before page ${page} could not be read in one request. Follow \`nextCursor\` from the first page instead.`;
      throw new Problem('upstream_unavailable', { detail });
    }
    const items = this.#items.slice(skip);
    const next = this.#state === 'ended' ? null : this.#nextPosition(items.length === 0);
    const last = this.#read.at(-1);
    const isExact = last?.page.isExact === true;
    const before = createSentItems(position, sent);
    if (!isExact) before.add(this.#items.slice(0, skip));
    return {
      items,
      next,
      sent: this.#sent.fingerprints,
      sentBefore: before.fingerprints,
      places: {
        provider: last?.source ?? position.provider,
        recent: isExact ? [] : before.shortFingerprints,
        isExact,
        pages: skipPlaces(this.#places, skip),
      },
      warnings: [...this.#warnings],
      isComplete: !isStopped && !this.#hasDoubt,
      read: this.#read,
      leftover: this.#state === 'full' && this.#taken > 0 ? last : undefined,
    };
  }

  /** Reads a page, again if it looks incomplete. @throws Problem if the first read fails */
  async #readWithRetries(): Promise<{ sourced: SourcedPage; failure?: Problem }> {
    // A source that returns no more than `count` items returns the taken items too.
    const count = this.#goal - this.#items.length + this.#taken;
    const cursor = this.#cursor;
    const read = (bypassCache: boolean) => {
      this.#requests += 1;
      return this.#readPage({ cursor, count, bypassCache });
    };
    let sourced = await read(false);
    for (let tries = 0; tries < retriesPerPage && this.#shouldRetry(sourced.page); tries += 1) {
      if (rowsOf(sourced.page) > 0) this.#retriesLeft -= 1;
      const other = await read(true).catch(toFailure);
      if (other instanceof Problem) return { sourced, failure: other };
      if (rowsOf(other.page) > rowsOf(sourced.page)) sourced = other;
    }
    if (this.#isDoubtful(sourced.page)) this.#recordDoubt(sourced.page);
    return { sourced };
  }

  #recordDoubt({ cursor }: Page<ListItem>): void {
    this.#hasDoubt = true;
    if (cursor !== null) this.#warnings.add(shortWarning);
  }

  #shouldRetry(page: Page<ListItem>): boolean {
    // Earlier reads of the same page have already retried without success.
    if (this.isAtStart && this.#options.position.fruitless > enoughFruitless) return false;
    return this.#isDoubtful(page) && (rowsOf(page) === 0 || this.#retriesLeft > 0);
  }

  /** Returns whether a page may lack items: empty but not last, truncated, or doubtful. */
  #isDoubtful(page: Page<ListItem>): boolean {
    if (page.isExact) return false;
    const isEmpty = rowsOf(page) === 0 && page.cursor !== null;
    return page.isDoubtful === true || isEmpty || this.#isTruncated(page);
  }

  #isTruncated(page: Page<ListItem>): boolean {
    if (this.#taken === 0 || page.isExact || rowsOf(page) > this.#taken) return false;
    return this.#sent.lacksLastOf(page.items, this.#taken);
  }

  #countIdlePages(page: Page<ListItem>, fresh: number): void {
    const isIdle = rowsOf(page) === 0 || (page.items.length > 0 && fresh === 0);
    this.#idlePages = isIdle ? this.#idlePages + 1 : 0;
    this.#foundSomething ||= !isIdle;
  }

  #advance({ cursor }: Page<ListItem>): void {
    if (cursor === null || this.#visited.has(cursor)) {
      this.#state = 'ended';
      return;
    }
    this.#visited.add(cursor);
    this.#cursor = cursor;
    this.#taken = 0;
    if (this.#items.length >= this.#goal) this.#state = 'full';
    else if (this.#idlePages >= maxIdlePages) this.#pause(idleWarning);
    else if (this.#requests >= maxRequests) this.#pause(slowWarning);
  }

  #pause(warning: string): void {
    this.#warnings.add(warning);
    this.#state = 'paused';
  }

  #nextPosition(isFruitless: boolean): ListPosition | null {
    const { position, page } = this.#options;
    const last = this.#read.at(-1);
    const reason = this.#foundSomething ? 'found' : 'idle';
    const weight = fruitlessWeights[this.#state === 'cut' ? 'cut' : reason];
    const fruitless = isFruitless ? position.fruitless + weight : 0;
    if (fruitless >= maxFruitless) {
      this.#warnings.add(hopelessWarning);
      return null;
    }
    return {
      provider: last?.source ?? position.provider,
      cursor: this.#cursor,
      taken: this.#taken,
      page: page + 1,
      fruitless,
      recent: last?.page.isExact ? [] : this.#sent.shortFingerprints,
    };
  }
}

function toFailure(error: unknown): Problem {
  if (error instanceof Problem && error.code !== 'rate_limited') return error;
  throw error;
}

const rowsOf = ({ rows, items }: Page<ListItem>): number => rows ?? items.length;
