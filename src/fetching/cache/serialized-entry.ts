import { Problem, type ProblemCode } from '../../lib/problem.ts';
import type { Account } from '../../model/account.ts';
import type { ListItem } from '../lists/fetch-page.ts';
import type { CacheEntry, Outcome } from './response-cache.ts';

type SerializedGone = Readonly<{ code: ProblemCode; detail: string }>;

/** Serializes an entry for instances of the same version. Includes each list author only once. */
export function serializeEntry({ outcome, ...entry }: CacheEntry): string {
  if (!('gone' in outcome)) {
    const authors: Account[] = [];
    return JSON.stringify({ ...entry, outcome: withoutAuthors(outcome, authors), authors });
  }
  const gone: SerializedGone = { code: outcome.gone.code, detail: outcome.gone.message };
  return JSON.stringify({ ...entry, outcome: { gone } });
}

type FoundOutcome = Exclude<Outcome, { readonly gone: Problem }>;

function withoutAuthors(outcome: FoundOutcome, authors: Account[]): unknown {
  const { found } = outcome;
  const indices = new Map<string, number>();
  const toIndex = (author: Account): number => {
    const text = JSON.stringify(author);
    const index = indices.get(text) ?? authors.push(author) - 1;
    indices.set(text, index);
    return index;
  };
  const strip = (item: ListItem) =>
    'author' in item && item.author !== null ? { ...item, author: toIndex(item.author) } : item;
  if ('page' in found) {
    const page = { ...found.page, items: found.page.items.map(strip) };
    return { ...outcome, found: { ...found, page } };
  }
  if (!('items' in found)) return outcome;
  return { ...outcome, found: { ...found, items: found.items.map(strip) } };
}

/** Parses a cache entry that `serializeEntry` of the same version serialized. */
export function parseEntry(text: string): CacheEntry {
  const { authors, ...entry }: CacheEntry & { authors: readonly Account[] } = JSON.parse(text);
  const { outcome } = entry;
  if ('gone' in outcome) {
    const { code, detail }: SerializedGone = JSON.parse(text).outcome.gone;
    return { ...entry, outcome: { gone: new Problem(code, { detail }) } };
  }
  restoreAuthors(outcome, authors);
  return { ...entry, length: text.length };
}

function restoreAuthors({ found }: FoundOutcome, authors: readonly Account[]): void {
  const { items = [] } = 'page' in found ? found.page : 'items' in found ? found : {};
  for (const item of items) {
    // The entry is not shared yet, and has indices in place of authors.
    const stored = item as { author?: unknown };
    if (typeof stored.author === 'number') stored.author = authors[stored.author];
  }
}
