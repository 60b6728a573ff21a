import { Problem } from '../core/problem.ts';
import type { Page } from '../providers/provider.ts';
import type { ListItem } from './browse-query.ts';
import { type ListPosition, maxRecent, toFingerprint, toMark } from './list-position.ts';

/** A page of a source, with who sent it. */
export interface SourcedPage {
  readonly page: Page<ListItem>;
  readonly source: string;
  readonly degraded: boolean;
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
  /** Fingerprints of all the items before it, where they are known. */
  readonly given: readonly number[] | undefined;
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
  /** Fingerprints of all the items before `next`, as far as they are known. */
  readonly given: readonly number[];
  readonly warnings: readonly string[];
  /** Whether the source failed before the page was full. */
  readonly isCut: boolean;
  readonly degraded: boolean;
  readonly source: string;
  readonly asOfMs: number | undefined;
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
    if (!(error instanceof Problem) || walking.isAtStart) throw error;
    walking.cut(error);
  }
  return walking.finish();
}

/** The most requests for one page of ours: enough for a hundred pages of one row each. */
const maxAsks = 600;

/** How often a page is asked for again that has fewer rows than this (FxTwitter, section 6). */
const asksAgain = 4;
const suspiciousRows = 2;

/** After so many empty pages in a row a read ends; the next one goes on. */
const maxEmptyPages = 3;

/** A read without an item weighs 1, without even a row 6; a walk that collects this much ends. */
const maxFruitless = 12;

const shortWarning =
  'The source sent fewer posts or accounts than it should, also when asked again; some may be missing here.';
const emptyWarning =
  'The source sends empty pages although it announces more; the next page goes on where this one stopped.';
const hopelessWarning =
  'The source announces more, but has sent nothing for several pages; the list ends here and may be incomplete.';
const slowWarning =
  'This page took too many requests to fill; the next page goes on where this one stopped.';

/** One read of a walk. It is made, stepped until it is over, and asked for the result once. */
class Walking {
  readonly #start: WalkStart;
  readonly #wanted: Wanted;
  readonly #items: ListItem[] = [];
  readonly #given: number[];
  readonly #marks: number[];
  readonly #seen: Set<number>;
  readonly #seenMarks: ReadonlySet<number>;
  readonly #visited = new Set<string>();
  readonly #warnings = new Set<string>();
  #cursor: string | null;
  #taken: number;
  #asks = 0;
  #steps = 0;
  #emptyPages = 0;
  #state: 'going' | 'full' | 'paused' | 'cut' | 'ended' = 'going';
  #hasRows = false;
  #isExact = false;
  #last: SourcedPage | undefined;
  #asOfMs: number | undefined;

  constructor(start: WalkStart, wanted: Wanted) {
    const { position, given } = start;
    this.#start = start;
    this.#wanted = wanted;
    this.#given = [...(given ?? [])];
    this.#marks = [...position.recent];
    this.#seen = new Set(given);
    this.#seenMarks = new Set(given === undefined ? position.recent : []);
    this.#cursor = position.cursor;
    this.#taken = position.taken;
    if (position.cursor !== null) this.#visited.add(position.cursor);
  }

  get goesOn(): boolean {
    return this.#state === 'going';
  }

  /** Reads one page of the source and takes of it what is wanted. */
  async step(source: PageSource): Promise<void> {
    const sourced = await this.#readSteadily(source);
    const { page } = sourced;
    this.#note(sourced);
    const fresh = this.#isExact ? page.items : this.#freshOf(page.items);
    const room = this.#goal - this.#items.length;
    this.#give(fresh.slice(0, room));
    if (fresh.length > room) {
      this.#taken += room;
      this.#state = 'full';
    } else {
      this.#advance(page);
    }
  }

  /** Tells whether no page of the source has been read. */
  get isAtStart(): boolean {
    return this.#steps === 0;
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
      given: this.#given,
      warnings: [...this.#warnings],
      isCut: this.#state === 'cut',
      degraded: this.#last?.degraded ?? false,
      source: this.#last?.source ?? '',
      asOfMs: this.#asOfMs,
      leftover: this.#state === 'full' && this.#taken > 0 ? this.#last : undefined,
    };
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

  get #goal(): number {
    return this.#wanted.skip + this.#wanted.limit;
  }

  async #readSteadily(source: PageSource): Promise<SourcedPage> {
    const count = this.#goal - this.#items.length;
    const cursor = this.#cursor;
    const read = (again: boolean) => {
      this.#asks += 1;
      return source.read({ cursor, count, again });
    };
    let best = await read(false);
    for (let tries = 0; tries < asksAgain && this.#suspects(best.page); tries += 1) {
      const other = await read(true).catch(() => best); // what was read already is better than nothing
      if (rowsOf(other.page) > rowsOf(best.page)) best = other;
    }
    if (this.#suspects(best.page)) this.#warnings.add(shortWarning);
    return best;
  }

  #suspects(page: Page<ListItem>): boolean {
    return page.isExact !== true && page.cursor !== null && rowsOf(page) < suspiciousRows;
  }

  #note(sourced: SourcedPage): void {
    const { page } = sourced;
    this.#last = sourced;
    this.#steps += 1;
    this.#isExact = page.isExact === true;
    this.#hasRows ||= rowsOf(page) > 0;
    this.#emptyPages = rowsOf(page) === 0 ? this.#emptyPages + 1 : 0;
    for (const warning of page.warnings) this.#warnings.add(warning);
    if (page.asOfMs !== undefined) {
      this.#asOfMs = Math.min(this.#asOfMs ?? page.asOfMs, page.asOfMs);
    }
  }

  /**
   * Leaves out what was given before. What stands above the first item that was taken of this very
   * page has come since, or is gone from the marks: the walk has passed it.
   */
  #freshOf(items: readonly ListItem[]): readonly ListItem[] {
    const begin = this.#taken === 0 ? 0 : this.#firstTaken(items);
    const own = new Set<number>();
    return items.slice(begin).filter((item) => {
      const fingerprint = fingerprintOf(item);
      if (fingerprint === null) return true;
      if (own.has(fingerprint) || this.#hasSeen(fingerprint)) return false;
      own.add(fingerprint);
      return true;
    });
  }

  #firstTaken(items: readonly ListItem[]): number {
    const isKnown = this.#start.given !== undefined;
    const taken = new Set((isKnown ? this.#given : this.#marks).slice(-this.#taken));
    const at = items.findIndex((item) => {
      const fingerprint = fingerprintOf(item);
      return fingerprint !== null && taken.has(isKnown ? fingerprint : toMark(fingerprint));
    });
    return Math.max(at, 0);
  }

  #hasSeen(fingerprint: number): boolean {
    return this.#seen.has(fingerprint) || this.#seenMarks.has(toMark(fingerprint));
  }

  #give(items: readonly ListItem[]): void {
    this.#items.push(...items);
    if (this.#isExact) return;
    for (const item of items) {
      const fingerprint = fingerprintOf(item);
      if (fingerprint === null) continue;
      this.#seen.add(fingerprint);
      this.#given.push(fingerprint);
      this.#marks.push(toMark(fingerprint));
    }
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
    else if (this.#emptyPages >= maxEmptyPages) this.#pause(emptyWarning);
    else if (this.#asks >= maxAsks) this.#pause(slowWarning);
  }

  #pause(warning: string): void {
    this.#warnings.add(warning);
    this.#state = 'paused';
  }

  #nextPosition(isFruitless: boolean): ListPosition | null {
    const { position } = this.#start;
    const weight = this.#hasRows ? 1 : 6;
    const fruitless = isFruitless ? position.fruitless + weight : 0;
    if (fruitless >= maxFruitless) {
      this.#warnings.add(hopelessWarning);
      return null;
    }
    return {
      provider: this.#last?.source ?? position.provider,
      cursor: this.#cursor,
      taken: this.#taken,
      page: this.#wanted.page + 1,
      fruitless,
      recent: this.#isExact ? [] : this.#marks.slice(-maxRecent),
    };
  }
}

function rowsOf({ rows, items }: Page<ListItem>): number {
  return rows ?? items.length;
}

/** Null for what has no id: a post that is gone, which two places may show. */
function fingerprintOf({ id }: ListItem): number | null {
  return id === null ? null : toFingerprint(id);
}
