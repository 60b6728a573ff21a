import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { postKey } from '../cache/subjects.ts';
import type { ListItem, ListPosition } from './browse.ts';
import type { SharedSentItems } from './shared-sent-items.ts';

/** Maximum number of short item hashes (fingerprints) in a cursor. */
export const maxRecent = 96;

const itemsToCompare = 3; // a page that lacks all of this many last items counts as truncated

const maxItems = 5000;
const maxBytes = 16 * 1024 * 1024;

/** Bounded cache of the items already returned for each list, so that later pages do not repeat them. */
export interface SentItemsMemory {
  /** Returns the hashes of the items before a position, in list order; `undefined` if they are unknown. */
  recall(listKey: string, position: ListPosition): Promise<readonly number[] | undefined>;
  remember(listKey: string, position: ListPosition, sent: readonly number[]): Promise<void>;
}

/**
 * Creates a cache of hashes of the items already returned for each list, so that later pages do not repeat them.
 * Without a cache entry, Perch omits only the repeated items whose hashes are in the client's paging cursor.
 */
export function createSentItemsMemory(shared?: SharedSentItems): SentItemsMemory {
  const pages = new LRUCache<string, Float64Array>({
    maxSize: maxBytes,
    sizeCalculation: (sent, key) => sent.byteLength + 2 * key.length + 100,
  });
  const nameOf = (listKey: string, { provider, cursor, taken, page, recent }: ListPosition) =>
    JSON.stringify([listKey, provider, cursor, taken, page, recent.slice(-4)]);
  return {
    recall: async (listKey, position) => {
      const name = nameOf(listKey, position);
      const sent = pages.get(name) ?? (await shared?.read(name));
      return sent && [...sent];
    },
    remember: async (listKey, position, sent) => {
      const name = nameOf(listKey, position);
      const latest = Float64Array.from(sent.slice(-maxItems));
      pages.set(name, latest);
      await shared?.write(name, latest);
    },
  };
}

export type SentItems = ReturnType<typeof createSentItems>;

/**
 * Creates the set of items that were already returned to the client. Uses the hashes in `remembered` (from the
 * cache) or, if it is `undefined`, the short hashes in `recent` (from the client's cursor).
 */
export function createSentItems(
  { recent }: Pick<ListPosition, 'recent'>,
  remembered?: readonly number[],
) {
  const fingerprints = [...(remembered ?? recent.map(fromShort))];
  const seen = new Set(fingerprints);
  const hasSeen = (fingerprint: number) =>
    seen.has(fingerprint) || seen.has(fromShort(toShort(fingerprint)));
  const findTaken = (items: readonly ListItem[], taken: number): number => {
    const takenItems = new Set(fingerprints.slice(-taken).map(toShort));
    return items.findIndex((item) => {
      const fingerprint = fingerprintOf(item);
      return fingerprint !== null && takenItems.has(toShort(fingerprint));
    });
  };
  return {
    fingerprints: fingerprints as readonly number[],
    get shortFingerprints() {
      return fingerprints.slice(-maxRecent).map(toShort);
    },
    add: (items: readonly ListItem[]): void => {
      for (const fingerprint of items.flatMap((item) => fingerprintOf(item) ?? [])) {
        seen.add(fingerprint);
        fingerprints.push(fingerprint);
      }
    },
    /**
     * Returns the items of a page that the client should receive next: without duplicates, and without items that it
     * has received. `taken`: number of items of the page that the client has received. If `isNewestFirst` is true,
     * also omits the items before the received ones, because they were added after the client read the start of the
     * list.
     */
    freshOf: (items: readonly ListItem[], place: { taken: number; isNewestFirst: boolean }) => {
      const { taken, isNewestFirst } = place;
      const skipped = taken > 0 && isNewestFirst ? Math.max(0, findTaken(items, taken)) : 0;
      const own = new Set<number>();
      return items.slice(skipped).filter((item) => {
        const fingerprint = fingerprintOf(item);
        if (fingerprint === null) return true;
        const isRepeated = own.has(fingerprint) || hasSeen(fingerprint);
        own.add(fingerprint);
        return !isRepeated;
      });
    },
    /**
     * Returns whether a page that was read again is probably truncated: it lacks all of the last three of the
     * `taken` items that the client has received from it. A single missing item may have been deleted.
     */
    lacksLastOf: (items: readonly ListItem[], taken: number): boolean =>
      findTaken(items, Math.min(taken, itemsToCompare)) === -1,
  };
}

function fingerprintOf(item: ListItem): number | null {
  const key = 'type' in item ? postKey(item) : item.id;
  return key === null ? null : createHash('sha256').update(key).digest().readUIntBE(0, 6);
}

const toShort = (fingerprint: number): number =>
  fingerprint < 0 ? -1 - fingerprint : fingerprint % 2 ** 32;

const fromShort = (short: number): number => -1 - short;
