import type { BrowseResult } from '../../model/results.ts';
import type { ParsedRead } from '../../reads/read.ts';
import type { Reader } from '../../reads/run.ts';
import {
  type Item,
  inOrder,
  itemsOf,
  type Memory,
  mayContinue,
  oldestOf,
  selectNew,
} from './memory.ts';
import type { Target } from './targets.ts';

/** Number of posts after which a poll of a list requests no further page. */
export const maxItems = 2000;

const maxPages = 40;

const firstPage = 20;

const laterPages = 100;

/** Posts to deliver at first: all since `seconds` (Unix seconds), or the newest `count`. */
export type Start =
  | { readonly kind: 'since'; readonly seconds: number }
  | { readonly kind: 'backlog'; readonly count: number };

export interface Poll {
  /** New posts, oldest first. */
  readonly newItems: readonly Item[];
  /** Known posts of the list. A new post is added only after its delivery. */
  readonly memory: Memory;
  /** Posts on the first page of the list, usually newest first. */
  readonly latest: readonly Item[];
  /** Whether `newItems` lacks the oldest new posts, because the poll reached a maximum. */
  readonly isTruncated: boolean;
}

/** Error for a list that was not read live, but for example from the archive. */
export class NotLiveError extends Error {}

/** Parses a request for one page. @throws Problem with status 400 for invalid parameters */
export function parsePage(
  { read, parameters }: Target,
  reader: Reader,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): ParsedRead {
  const page = { limit: String(limit), nocache: 'true', cursor };
  return reader.parse(read, { ...parameters, ...page });
}

/** Reads a list for the first time. @throws Problem if that fails; NotLiveError if not live */
export async function pollFirst(
  target: Target,
  reader: Reader,
  options: { readonly start: Start; readonly nowMs: number },
): Promise<Poll> {
  const { start, nowMs } = options;
  if (start.kind === 'since') {
    return pollNew(target, reader, { floor: start.seconds - 1, seen: new Map(), isFirst: true });
  }
  const { count } = start;
  const limit = Math.min(laterPages, Math.max(firstPage, count));
  const { items, latest } = await readItems(target, reader, {
    limit,
    mayContinue: (all) => all.length < count,
  });
  const newItems = withoutRepeats(inOrder(items)).slice(0, count);
  const rest = items.filter((item) => !newItems.includes(item));
  // An account without posts can have posts that the platform does not list yet.
  const known = oldestOf(items) ?? Math.floor(nowMs / 1000) - 86_400;
  const floor = Math.min(known, (oldestOf(newItems) ?? known + 1) - 1);
  const seen = new Map(rest.toReversed().map(({ key, seconds }) => [key, seconds]));
  return { newItems: newItems.toReversed(), memory: { floor, seen }, latest, isTruncated: false };
}

function withoutRepeats(items: readonly Item[]): readonly Item[] {
  return [...new Map(items.map((item) => [item.key, item])).values()];
}

/** Reads up to a known post. @throws Problem for a failed read; NotLiveError if not live */
export function pollAgain(target: Target, reader: Reader, memory: Memory): Promise<Poll> {
  return pollNew(target, reader, { ...memory, isFirst: false });
}

async function pollNew(
  target: Target,
  reader: Reader,
  { isFirst, ...memory }: Memory & { readonly isFirst: boolean },
): Promise<Poll> {
  const { items, latest, isTruncated } = await readItems(target, reader, {
    limit: firstPage,
    mayContinue: (_, page) => mayContinue(page, memory),
  });
  const newItems = inOrder(selectNew(items, memory, { isFirst })).toReversed();
  return { newItems, memory, latest, isTruncated };
}

interface ReadOptions {
  readonly limit: number;
  /** Returns whether to read another page. `items`: of all pages so far. `page`: the last one. */
  readonly mayContinue: (items: readonly Item[], page: readonly Item[]) => boolean;
}

async function readItems(target: Target, reader: Reader, { limit, mayContinue }: ReadOptions) {
  const items: Item[] = [];
  let latest: readonly Item[] | undefined;
  let cursor: string | undefined;
  for (let pages = 0; items.length < maxItems && pages < maxPages; pages += 1) {
    const size = pages === 0 ? limit : laterPages;
    const page = await readPage(parsePage(target, reader, { limit: size, cursor }), reader);
    const own = itemsOf(page);
    latest ??= own;
    items.push(...own);
    cursor = page.next?.cursor;
    if (cursor === undefined || !mayContinue(items, own))
      return { items, latest, isTruncated: false };
  }
  return { items, latest: latest ?? [], isTruncated: true };
}

async function readPage(parsed: ParsedRead, reader: Reader): Promise<BrowseResult> {
  const page = reader.assemble(await reader.fetch(parsed));
  if (page.kind !== 'browse')
    throw new Error('The read operation of a watched target does not return a list.');
  if (page.degraded) throw new NotLiveError('The platform could not be read.');
  return page;
}
