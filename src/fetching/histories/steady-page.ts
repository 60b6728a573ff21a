import type { Post } from '../../model/post.ts';
import type { Page } from '../../model/queries.ts';
import { type PagePlace, rowsOf, spanOf } from './page-span.ts';

/** A page with who sent it. */
export interface AskedPage {
  readonly page: Page<Post>;
  readonly source: string;
}

/** A page as good as it could be read. */
export interface SteadyPage extends AskedPage {
  /** False where it may lack posts all the same. */
  readonly isProved: boolean;
}

/** How a page is judged, and who is told of it. */
export interface SteadyOptions {
  /** Gives how many rows a page has that is believed at its first answer, where its source tells its span. */
  readonly leastRows: () => number;
  /** Told of the first answer where it is doubtful, before it is asked for again. */
  readonly onDoubt?: ((first: AskedPage) => void) | undefined;
}

/**
 * How often a doubtful page is asked for again: four times (FxTwitter, section 6). What is not settled by
 * the first of them is most likely as it looks, so that the others are asked at once.
 */
const asksAgain = [1, 3] as const;

/** As one call in four can be short, five in a row are, now and then; so often it is asked for after them. */
const lastAsks = 4;

/** So many answers that agree are believed, however few rows they have. */
const mostAgreeing = 5;

/**
 * Reads a page, and again where it is doubtful: until an answer is whole, two answers that have rows
 * agree, or it was asked for often enough. What any of them has is on the page.
 *
 * @throws what `ask` throws
 */
export async function readSteadily(
  ask: () => Promise<AskedPage>,
  place: PagePlace,
  { leastRows, onDoubt }: SteadyOptions,
): Promise<SteadyPage> {
  const isGood = (asked: AskedPage) => isWhole(asked, place) && isLong(asked, leastRows());
  const best = await ask();
  let standing: Standing = { best, agreeing: 1, isSettled: isGood(best) };
  if (!standing.isSettled) onDoubt?.(best);
  const askAgain = async (times: number) => {
    const others = await Promise.all(Array.from({ length: times }, ask));
    for (const other of others) standing = weigh(standing, other, isGood(other));
    if (standing.agreeing > 1 && standing.best.page.isDoubtful !== true) {
      standing = { ...standing, isSettled: true };
    }
  };
  for (const times of asksAgain) if (!standing.isSettled) await askAgain(times);
  if (!standing.isSettled && mayBeShort(standing.best, place)) await askAgain(lastAsks);
  const isProved = standing.isSettled || standing.agreeing >= agreeingNeeded(standing.best);
  return { ...standing.best, isProved };
}

/** What the answers to a page came to so far. */
interface Standing {
  readonly best: AskedPage;
  /** How many answers had as many rows as the fullest. */
  readonly agreeing: number;
  readonly isSettled: boolean;
}

function weigh(
  { best, agreeing, isSettled }: Standing,
  other: AskedPage,
  isGood: boolean,
): Standing {
  return {
    best: join(best, other),
    agreeing: countAgreeing(best, other, agreeing),
    isSettled: isSettled || isGood,
  };
}

function countAgreeing(best: AskedPage, other: AskedPage, agreeing: number): number {
  const more = rowsOf(other.page) - rowsOf(best.page);
  if (more < 0) return agreeing;
  return more === 0 ? agreeing + 1 : 1;
}

/**
 * The last page of a timeline may look like a short one, and so may one of posts that are gone; but
 * they look so time and again.
 */
function agreeingNeeded({ page }: AskedPage): number {
  return page.cursor === null ? 2 : mostAgreeing;
}

/** Tells whether a page goes on below a row that it does not have. */
function mayBeShort({ page }: AskedPage, place: PagePlace): boolean {
  return page.span !== undefined && page.cursor !== null && !spanOf(page, place).isWhole;
}

/**
 * Tells whether a page has as many rows as pages have. What stands at its end can stand on it twice, at its
 * place and above a reply to it, so that also a page that was cut off there looks whole.
 */
function isLong({ page }: AskedPage, leastRows: number): boolean {
  return page.span === undefined || rowsOf(page) >= leastRows;
}

function isWhole({ page }: AskedPage, place: PagePlace): boolean {
  if (page.isExact === true) return true;
  const isEmptyBeforeEnd = page.items.length === 0 && rowsOf(page) === 0;
  return page.isDoubtful !== true && !isEmptyBeforeEnd && spanOf(page, place).isWhole;
}

/** The fuller answer, with what only the other one has at its end: places are told by the span. */
function join(one: AskedPage, other: AskedPage): AskedPage {
  const [fuller, less] = rowsOf(other.page) > rowsOf(one.page) ? [other, one] : [one, other];
  const known = new Set(fuller.page.items.map(({ id }) => id));
  const missed = less.page.items.filter(({ id }) => !known.has(id));
  if (missed.length === 0) return fuller;
  return { ...fuller, page: { ...fuller.page, items: [...fuller.page.items, ...missed] } };
}
