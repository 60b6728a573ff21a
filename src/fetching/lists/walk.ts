import { Problem } from '../../core/problem.ts';
import type { Page } from '../../model/queries.ts';
import type { ListItem, ListPosition } from './browse.ts';
import { createGivenItems, type GivenItems } from './given-items.ts';

export interface SourcedPage {
  readonly page: Page<ListItem>;
  readonly source: string;
  readonly degraded: boolean;
  readonly isLocal: boolean;
  readonly askedMs: number;
}

/** Reads the page at a cursor; `again` asks the source anew if an answer is kept. Throws Problem. */
export type ReadPage = (at: {
  cursor: string | null;
  count: number;
  again: boolean;
}) => Promise<SourcedPage>;

export interface WalkOptions {
  readonly position: ListPosition;
  readonly given: readonly number[] | undefined;
  /** True if new items come on top; false if items change their places. */
  readonly isNewestFirst: boolean;
  readonly skip: number;
  readonly limit: number;
  readonly page: number;
}

export interface Walked {
  readonly items: readonly ListItem[];
  readonly next: ListPosition | null;
  /** Fingerprints of the items before `next`, oldest first, as far as they are known. */
  readonly given: readonly number[];
  readonly warnings: readonly string[];
  /** False if the source failed, or left a doubt whether there is more. */
  readonly isSound: boolean;
  /** The pages that were read of the source, in order. */
  readonly read: readonly SourcedPage[];
  readonly leftover: SourcedPage | undefined;
}

/**
 * Walks a list until as many new items are found as are wanted, over pages of any size. Suspiciously
 * short pages are asked for again. Throws Problem if the first page cannot be read, and
 * `upstream_unavailable` if the items to skip cannot be walked in one read.
 */
export async function walk(read: ReadPage, options: WalkOptions): Promise<Walked> {
  const walking = new Walking(read, options);
  try {
    while (walking.goesOn) await walking.step();
  } catch (error) {
    // An outage leaves the items found so far; that the account is gone does not.
    const isOutage = error instanceof Problem && error.status >= 500;
    if (!isOutage || walking.isAtStart) throw error;
    walking.cut(error);
  }
  return walking.finish();
}

/** Bounds of one read. Its deadline ends a walk of a slow source before. */
const maxAsks = 200; // requests
const asksAgain = 4; // for one doubtful page
const maxSpareAsks = 60; // for all doubtful pages that are not empty
const maxIdlePages = 4; // in a row without anything new; the next read continues

/** Weights of a read without an item: of unwanted rows, cut short by the source, of idle pages. */
const fruitlessWeights = { found: 1, cut: 2, idle: 6 } as const;
const maxFruitless = 120; // ends a walk
const enoughFruitless = 6; // beyond it a page is believed at once: reads must not loop

const shortWarning =
  'The source sent fewer posts or accounts than it should, also when asked again; some may be missing here.';
const idleWarning =
  'The source sends empty pages, or the same ones, although it announces more; the next page goes on where this one stopped.';
const hopelessWarning =
  'The source announces more, but has sent nothing new for many pages; the list ends here and may be incomplete.';
const slowWarning =
  'This page took too many requests to fill; the next page goes on where this one stopped.';

/** One read of a walk: stepped until it is over, then finished once. */
class Walking {
  readonly #readPage: ReadPage;
  readonly #options: WalkOptions;
  readonly #goal: number;
  readonly #items: ListItem[] = [];
  readonly #given: GivenItems;
  readonly #visited = new Set<string>();
  readonly #warnings = new Set<string>();
  readonly #read: SourcedPage[] = [];
  #cursor: string | null;
  #taken: number;
  #asks = 0;
  #spareAsks = maxSpareAsks;
  #idlePages = 0;
  #state: 'going' | 'full' | 'paused' | 'cut' | 'ended' = 'going';
  #foundSomething = false;
  #isDoubtful = false;

  constructor(readPage: ReadPage, options: WalkOptions) {
    const { position, given, skip, limit } = options;
    this.#readPage = readPage;
    this.#options = options;
    this.#goal = skip + limit;
    this.#given = createGivenItems(position, given);
    this.#cursor = position.cursor;
    this.#taken = position.taken;
    if (position.cursor !== null) this.#visited.add(position.cursor);
  }

  get goesOn(): boolean {
    return this.#state === 'going';
  }

  get isAtStart(): boolean {
    return this.#read.length === 0;
  }

  async step(): Promise<void> {
    const { sourced, failure } = await this.#readSteadily();
    const { page } = sourced;
    this.#read.push(sourced);
    for (const warning of page.warnings) this.#warnings.add(warning);
    if (this.#isTruncated(page) && this.#options.position.fruitless === 0) {
      this.#pause(shortWarning);
      return;
    }
    const place = { taken: this.#taken, isNewestFirst: this.#options.isNewestFirst };
    const fresh = page.isExact ? page.items : this.#given.freshOf(page.items, place);
    this.#noteYield(page, fresh.length);
    const wanted = fresh.slice(0, this.#goal - this.#items.length);
    this.#items.push(...wanted);
    if (!page.isExact) this.#given.add(wanted);
    if (wanted.length < fresh.length) {
      this.#taken += wanted.length;
      this.#state = 'full';
    } else if (failure !== undefined) {
      // Nobody knows what else the page has, so the walk does not leave it.
      this.#taken += fresh.length;
      this.cut(failure);
    } else {
      this.#advance(page);
    }
  }

  /** Ends the read, because the source has failed; the items found so far stay. */
  cut(problem: Problem): void {
    this.#warnings.add(
      `The source failed before the page was full: ${problem.message} The next page goes on where this one stopped.`,
    );
    this.#state = 'cut';
  }

  /** @throws Problem if the items to skip were not all walked: nobody knows then where the page begins */
  finish(): Walked {
    const { skip, page } = this.#options;
    const isStopped = this.#state === 'cut' || this.#state === 'paused';
    if (isStopped && this.#items.length < skip) {
      const detail = `The pages before page ${page} could not be walked in one read; follow \`nextCursor\` from the first page instead.`;
      throw new Problem('upstream_unavailable', { detail });
    }
    const items = this.#items.slice(skip);
    const next = this.#state === 'ended' ? null : this.#nextPosition(items.length === 0);
    return {
      items,
      next,
      given: this.#given.fingerprints,
      warnings: [...this.#warnings],
      isSound: !isStopped && !this.#isDoubtful,
      read: this.#read,
      leftover: this.#state === 'full' && this.#taken > 0 ? this.#read.at(-1) : undefined,
    };
  }

  /** Reads a page as well as possible; returns the `failure` if a doubtful one could not be asked for again. */
  async #readSteadily(): Promise<{ sourced: SourcedPage; failure?: Problem }> {
    const count = this.#goal - this.#items.length;
    const cursor = this.#cursor;
    const read = (again: boolean) => {
      this.#asks += 1;
      return this.#readPage({ cursor, count, again });
    };
    let sourced = await read(false);
    for (let tries = 0; tries < asksAgain && this.#isWorthAsking(sourced.page); tries += 1) {
      if (rowsOf(sourced.page) > 0) this.#spareAsks -= 1;
      const other = await read(true).catch(toFailure);
      if (other instanceof Problem) return { sourced, failure: other };
      if (rowsOf(other.page) > rowsOf(sourced.page)) sourced = other;
    }
    if (this.#doubts(sourced.page)) this.#noteDoubt(sourced.page);
    return { sourced };
  }

  #noteDoubt({ cursor }: Page<ListItem>): void {
    this.#isDoubtful = true;
    if (cursor !== null) this.#warnings.add(shortWarning);
  }

  #isWorthAsking(page: Page<ListItem>): boolean {
    // Reads before this one have asked, and could not wait for all the answers.
    if (this.isAtStart && this.#options.position.fruitless > enoughFruitless) return false;
    return this.#doubts(page) && (rowsOf(page) === 0 || this.#spareAsks > 0);
  }

  /** Returns whether a page is doubtful to the source, empty before the end, or lacks items taken of it. */
  #doubts(page: Page<ListItem>): boolean {
    if (page.isExact) return false;
    const isEmpty = rowsOf(page) === 0 && page.cursor !== null;
    return page.isDoubtful === true || isEmpty || this.#isTruncated(page);
  }

  #isTruncated(page: Page<ListItem>): boolean {
    if (this.#taken === 0 || page.isExact || rowsOf(page) > this.#taken) return false;
    return this.#given.lacksLastOf(page.items, this.#taken);
  }

  #noteYield(page: Page<ListItem>, fresh: number): void {
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
    else if (this.#asks >= maxAsks) this.#pause(slowWarning);
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
      recent: last?.page.isExact ? [] : this.#given.marks,
    };
  }
}

function toFailure(error: unknown): Problem {
  if (error instanceof Problem && error.code !== 'rate_limited') return error;
  throw error;
}

function rowsOf({ rows, items }: Page<ListItem>): number {
  return rows ?? items.length;
}
