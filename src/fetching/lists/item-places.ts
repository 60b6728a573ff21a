import type { ListPosition, PageFound, PageQuery, PartStore } from './fetch-page.ts';
import type { SourcedPage } from './page-filler.ts';
import { createSentItems, type SentItemsMemory } from './sent-items.ts';

/** Places in the source of a list page's items. The position of each item follows from them. */
export interface ItemPlaces {
  readonly provider: string | null;
  /** Value of `ListPosition.recent` before the first item. Empty if pages never overlap. */
  readonly recent: readonly number[];
  readonly isExact: boolean;
  /** Upstream pages that contain the items, in order. */
  readonly pages: readonly PlacedItems[];
}

/** Items of a list page that come from one upstream page. */
export interface PlacedItems {
  /** Provider's cursor of the upstream page; `null` for the first page. */
  readonly cursor: string | null;
  /** Number of items of the upstream page that were returned on earlier pages of the list. */
  readonly taken: number;
  readonly count: number;
  /** Number of posts or accounts that the source sent on the upstream page. */
  readonly rows: number;
  /** Provider's cursor of the next upstream page; `null` if the list ends here. */
  readonly next: string | null;
}

export function skipPlaces(pages: readonly PlacedItems[], skip: number): readonly PlacedItems[] {
  let left = skip;
  return pages.flatMap((page) => {
    const skipped = Math.min(left, page.count);
    left -= skipped;
    const rest = { ...page, taken: page.taken + skipped, count: page.count - skipped };
    return rest.count > 0 ? [rest] : [];
  });
}

type PlacedPage = Pick<PageFound, 'items' | 'places'>;

/** Returns the position of an item, from which page `page` starts; `null` without such an item. */
export function positionOf(
  { items, places }: PlacedPage,
  { index, page }: { readonly index: number; readonly page: number },
): ListPosition | null {
  const place = places && skipPlaces(places.pages, index)[0];
  if (place === undefined) return null;
  const { provider, recent, isExact } = places as ItemPlaces;
  const sent = createSentItems({ recent });
  sent.add(items.slice(0, index));
  const { cursor, taken } = place;
  const position = { provider, cursor, taken, page, fruitless: 0 };
  return { ...position, recent: isExact ? [] : sent.shortFingerprints };
}

interface KeepOptions {
  readonly memory: SentItemsMemory;
  readonly parts: PartStore;
  readonly facts: Omit<SourcedPage, 'page' | 'degraded'>;
}

/** Stores sent hashes and leftover items, so that a page can continue after `count` items. */
export async function keepPosition(
  query: PageQuery,
  { found, count }: { readonly found: PageFound; readonly count: number },
  { memory, parts, facts }: KeepOptions,
): Promise<void> {
  const { listKey, page } = query;
  const start = positionOf(found, { index: 0, page });
  const next = positionOf(found, { index: count, page: page + 1 });
  if (start === null || next === null || next.recent.length === 0) return;
  for (const { cursor, page: left } of listLeftovers(found, count)) {
    const part = { ...facts, degraded: found.degraded, page: left };
    parts.set(toPageKey(listKey, facts.source, cursor), part);
  }
  const isFirst = start.cursor === null && start.taken === 0 && start.recent.length === 0;
  const before = isFirst ? [] : await memory.recall(listKey, query.position ?? start);
  const sent = createSentItems(start, before);
  sent.add(found.items.slice(0, count));
  await memory.remember(listKey, next, sent.fingerprints);
}

function listLeftovers({ items, places, next }: PageFound, count: number) {
  let start = 0;
  return (places?.pages ?? []).flatMap(({ cursor, taken, count: own, rows, next: following }) => {
    const from = start;
    start += own;
    // A part of an upstream page would take the place of the whole page, which other reads use.
    if (taken > 0 || start <= count || next?.cursor === cursor) return [];
    const page = { items: items.slice(from, start), cursor: following, rows, warnings: [] };
    return [{ cursor, page }];
  });
}

export const toPageKey = (listKey: string, provider: string, cursor: string | null): string =>
  `page ${listKey} ${provider} ${cursor ?? ''}`;
