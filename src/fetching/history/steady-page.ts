import type { Post } from '../../model/post.ts';
import type { Page } from '../../providers/provider.ts';
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

/**
 * How often a doubtful page is asked for again: four times (FxTwitter, section 6). What is not settled by
 * the first of them is most likely as it looks, so that the others are asked at once.
 */
const asksAgain = [1, 3] as const;

/** All answers to a page that never settles. */
const mostAsks = 5;

/**
 * Reads a page, and again where it is doubtful: until an answer is whole, two answers that have rows
 * agree, or it was asked for often enough. What any of them has is on the page.
 *
 * @param onDoubt Told of the first answer where it is doubtful, before it is asked for again.
 * @throws what `ask` throws
 */
export async function readSteadily(
  ask: () => Promise<AskedPage>,
  place: PagePlace,
  onDoubt: (first: AskedPage) => void = () => undefined,
): Promise<SteadyPage> {
  let best = await ask();
  let isSettled = isWhole(best, place);
  if (!isSettled) onDoubt(best);
  /** How many answers had as many rows as the fullest. */
  let agreeing = 1;
  for (const times of asksAgain) {
    if (isSettled) break;
    for (const other of await Promise.all(Array.from({ length: times }, ask))) {
      agreeing = countAgreeing(best, other, agreeing);
      best = join(best, other);
      isSettled ||= isWhole(other, place);
    }
    isSettled ||= agreeing > 1 && best.page.isDoubtful !== true;
  }
  return { ...best, isProved: isSettled || agreeing >= asksNeeded(best) };
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
function asksNeeded({ page }: AskedPage): number {
  return page.cursor === null ? 2 : mostAsks;
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
