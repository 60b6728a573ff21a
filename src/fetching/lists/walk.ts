import { Problem } from '../../core/problem.ts';
import type { Page } from '../../model/queries.ts';
import type { ListItem } from './browse-query.ts';
import { createGivenItems, type GivenItems } from './given-items.ts';
import type { ListPosition } from './list-position.ts';

/** A page of a source, with who sent it and when. */
export interface SourcedPage {
  readonly page: Page<ListItem>;
  readonly source: string;
  readonly degraded: boolean;
  readonly isLocal: boolean;
  /** Milliseconds since the epoch. */
  readonly askedMs: number;
}

/** Where a walk gets its pages. Throws Problem. */
export interface PageSource {
  /** Gives the page at a cursor; `again` asks the source anew where an answer is kept. */
  read(at: {
    readonly cursor: string | null;
    readonly count: number;
    readonly again: boolean;
  }): Promise<SourcedPage>;
}

/** Where a walk goes on. */
export interface WalkStart {
  readonly position: ListPosition;
  /** Fingerprints of the items before it, oldest first, where they are remembered. */
  readonly given: readonly number[] | undefined;
  /** True where what is new stands on top; false where items change their places. */
  readonly isNewestFirst: boolean;
}

/** Which of the items that follow are wanted. */
export interface Wanted {
  readonly skip: number;
  readonly limit: number;
  /** The number of the page that they make, from 1. */
  readonly page: number;
}

/** What a walk came to. */
export interface Walked {
  readonly items: readonly ListItem[];
  readonly next: ListPosition | null;
  /** Fingerprints of the items before `next`, oldest first, as far as they are known. */
  readonly given: readonly number[];
  readonly warnings: readonly string[];
  /** False where the source failed, or left a doubt whether there is more. */
  readonly isSound: boolean;
  /** The pages that were read of the source, in order. */
  readonly read: readonly SourcedPage[];
  /** The page that `next` is in the middle of. */
  readonly leftover: SourcedPage | undefined;
}

/**
 * Walks a list from a position until as many items are found as are wanted, over pages of any size.
 * An item that the walk has given before is left out. A page that is suspiciously short is asked for
 * again, and an empty one is not taken for the end while the source names a next page.
 *
 * @throws Problem when not even the first page can be read; `upstream_unavailable` when what is to be
 *   skipped cannot be walked in one read.
 */
export async function walk(source: PageSource, start: WalkStart, wanted: Wanted): Promise<Walked> {
  const walking = new Walking(start, wanted);
  try {
    while (walking.goesOn) await walking.step(source);
  } catch (error) {
    // An outage leaves what was found; that the account is gone does not.
    const isOutage = error instanceof Problem && error.status >= 500;
    if (!isOutage || walking.isAtStart) throw error;
    walking.cut(error);
  }
  return walking.finish();
}

/** The most requests for one page of ours. The read's deadline ends a walk of a slow source before. */
const maxAsks = 200;

/** How often a doubtful page is asked for again. */
const asksAgain = 4;

/** How often, in one read, doubtful pages are asked for again that are not empty. */
const maxSpareAsks = 60;

/** After so many pages in a row that hold nothing new a read ends; the next one goes on. */
const maxIdlePages = 4;

/** What a read without an item weighs: of unwanted rows, cut short by the source, of idle pages. */
const fruitlessWeights = { found: 1, cut: 2, idle: 6 } as const;

/** A walk that collects so much ends. */
const maxFruitless = 120;

/** With more than this, a page is believed at once where the walk stands: reads must not loop. */
const enoughFruitless = 6;

const shortWarning =
  'The source sent fewer posts or accounts than it should, also when asked again; some may be missing here.';
const idleWarning =
  'The source sends empty pages, or the same ones, although it announces more; the next page goes on where this one stopped.';
const hopelessWarning =
  'The source announces more, but has sent nothing new for many pages; the list ends here and may be incomplete.';
const slowWarning =
  'This page took too many requests to fill; the next page goes on where this one stopped.';

/** A page as good as it could be read; `failure` where a doubtful one could not be asked for again. */
interface SteadyPage {
  readonly sourced: SourcedPage;
  readonly failure?: Problem;
}

/** One read of a walk. It is made, stepped until it is over, and asked for the result once. */
class Walking {
  readonly #start: WalkStart;
  readonly #wanted: Wanted;
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

  constructor(start: WalkStart, wanted: Wanted) {
    const { position, given } = start;
    this.#start = start;
    this.#wanted = wanted;
    this.#given = createGivenItems(position, given);
    this.#cursor = position.cursor;
    this.#taken = position.taken;
    if (position.cursor !== null) this.#visited.add(position.cursor);
  }

  get goesOn(): boolean {
    return this.#state === 'going';
  }

  /** Tells whether no page of the source has been read. */
  get isAtStart(): boolean {
    return this.#read.length === 0;
  }

  /** Reads one page of the source and takes of it what is wanted. */
  async step(source: PageSource): Promise<void> {
    const { sourced, failure } = await this.#readSteadily(source);
    const { page } = sourced;
    this.#read.push(sourced);
    for (const warning of page.warnings) this.#warnings.add(warning);
    if (this.#isTruncated(page) && this.#start.position.fruitless === 0) {
      this.#pause(shortWarning);
      return;
    }
    const { isNewestFirst } = this.#start;
    const fresh =
      page.isExact === true
        ? page.items
        : this.#given.freshOf(page.items, { taken: this.#taken, isNewestFirst });
    this.#noteYield(page, fresh.length);
    const room = this.#goal - this.#items.length;
    this.#give(fresh.slice(0, room), page);
    if (fresh.length > room) {
      this.#taken += room;
      this.#state = 'full';
    } else if (failure !== undefined) {
      // Nobody knows what else the page has, so the walk does not leave it.
      this.#taken += fresh.length;
      this.cut(failure);
    } else {
      this.#advance(page);
    }
  }

  /** Ends the read, because the source has failed; what was found stands. */
  cut(problem: Problem): void {
    this.#warnings.add(
      `The source failed before the page was full: ${problem.message} The next page goes on where this one stopped.`,
    );
    this.#state = 'cut';
  }

  /** @throws Problem when the pages to be skipped were not all walked. */
  finish(): Walked {
    this.#refuseToGuess();
    const items = this.#items.slice(this.#wanted.skip);
    const next = this.#state === 'ended' ? null : this.#nextPosition(items.length === 0);
    return {
      items,
      next,
      given: this.#given.fingerprints,
      warnings: [...this.#warnings],
      isSound: this.#state !== 'cut' && this.#state !== 'paused' && !this.#isDoubtful,
      read: this.#read,
      leftover: this.#state === 'full' && this.#taken > 0 ? this.#read.at(-1) : undefined,
    };
  }

  get #goal(): number {
    return this.#wanted.skip + this.#wanted.limit;
  }

  /** Without the pages before it nobody knows where a page begins. */
  #refuseToGuess(): void {
    const { skip, page } = this.#wanted;
    const isStopped = this.#state === 'cut' || this.#state === 'paused';
    if (!isStopped || this.#items.length >= skip) return;
    throw new Problem('upstream_unavailable', {
      detail: `The pages before page ${page} could not be walked in one read; follow \`nextCursor\` from the first page instead.`,
    });
  }

  async #readSteadily(source: PageSource): Promise<SteadyPage> {
    const count = this.#goal - this.#items.length;
    const cursor = this.#cursor;
    const read = (again: boolean) => {
      this.#asks += 1;
      return source.read({ cursor, count, again });
    };
    let sourced = await read(false);
    for (let tries = 0; tries < asksAgain && this.#isWorthAsking(sourced.page); tries += 1) {
      if (rowsOf(sourced.page) > 0) this.#spareAsks -= 1;
      const other = await read(true).catch(toFailure);
      if (other instanceof Problem) return { sourced, failure: other };
      if (rowsOf(other.page) > rowsOf(sourced.page)) sourced = other;
    }
    const { page } = sourced;
    this.#isDoubtful ||= this.#doubts(page);
    if (this.#doubts(page) && page.cursor !== null) this.#warnings.add(shortWarning);
    return { sourced };
  }

  /** Among many short pages in one read, shortness is how this source is. An empty one never is. */
  #isWorthAsking(page: Page<ListItem>): boolean {
    // Reads before this one have asked, and could not wait for all the answers.
    if (this.isAtStart && this.#start.position.fruitless > enoughFruitless) return false;
    return this.#doubts(page) && (rowsOf(page) === 0 || this.#spareAsks > 0);
  }

  /** The source doubts it, or it is empty before the end, or shorter than what was taken of it. */
  #doubts(page: Page<ListItem>): boolean {
    if (page.isExact === true) return false;
    const isEmpty = rowsOf(page) === 0 && page.cursor !== null;
    return page.isDoubtful === true || isEmpty || this.#isTruncated(page);
  }

  /** Tells whether a page of which some was taken lacks what was taken last, and anything beyond. */
  #isTruncated(page: Page<ListItem>): boolean {
    if (this.#taken === 0 || page.isExact === true || rowsOf(page) > this.#taken) return false;
    return this.#given.lacksLastOf(page.items, this.#taken);
  }

  #noteYield(page: Page<ListItem>, fresh: number): void {
    const isIdle = rowsOf(page) === 0 || (page.items.length > 0 && fresh === 0);
    this.#idlePages = isIdle ? this.#idlePages + 1 : 0;
    this.#foundSomething ||= !isIdle;
  }

  #give(items: readonly ListItem[], page: Page<ListItem>): void {
    this.#items.push(...items);
    if (page.isExact !== true) this.#given.add(items);
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
    const { position } = this.#start;
    const last = this.#read.at(-1);
    const { cut, found, idle } = fruitlessWeights;
    const weight = this.#state === 'cut' ? cut : this.#foundSomething ? found : idle;
    const fruitless = isFruitless ? position.fruitless + weight : 0;
    if (fruitless >= maxFruitless) {
      this.#warnings.add(hopelessWarning);
      return null;
    }
    return {
      provider: last?.source ?? position.provider,
      cursor: this.#cursor,
      taken: this.#taken,
      page: this.#wanted.page + 1,
      fruitless,
      recent: last?.page.isExact === true ? [] : this.#given.marks,
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
