import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Engine } from '../../lib/redis/engine.ts';
import { postKey } from '../cache/subjects.ts';
import type { ListItem, ListPosition } from './fetch-page.ts';

/** Maximum number of short item hashes (fingerprints) in a cursor. */
export const maxRecent = 96;

const itemsToCompare = 3; // a page that lacks all of this many last items counts as truncated

const maxItems = 5000;
const maxBytes = 16 * 1024 * 1024;

export type SentItemsMemory = ReturnType<typeof createSentItemsMemory>;

/**
 * Creates a bounded cache of the items returned for each list, so that later pages do not repeat
 * them. On a miss, Perch omits only those in the cursor.
 */
export function createSentItemsMemory(shared?: SharedSentItems) {
  const pages = new LRUCache<string, Float64Array>({
    maxSize: maxBytes,
    sizeCalculation: (sent, key) => sent.byteLength + 2 * key.length + 100,
  });
  const nameOf = (listKey: string, { provider, cursor, taken, page, recent }: ListPosition) =>
    JSON.stringify([listKey, provider, cursor, taken, page, recent.slice(-4)]);
  return {
    /** Returns hashes of the items before a position, in list order; `undefined` if unknown. */
    recall: async (listKey: string, position: ListPosition) => {
      const name = nameOf(listKey, position);
      const sent = pages.get(name) ?? (await shared?.read(name));
      return sent && [...sent];
    },
    remember: async (listKey: string, position: ListPosition, sent: readonly number[]) => {
      const name = nameOf(listKey, position);
      const latest = Float64Array.from(sent.slice(-maxItems));
      pages.set(name, latest);
      await shared?.write(name, latest);
    },
  };
}

export type SentItems = ReturnType<typeof createSentItems>;

/** Creates the set of returned items from the cache (`remembered`) or the cursor (`recent`). */
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
    /** Returns items not yet sent. If `isNewestFirst`, also omits those in front of sent ones. */
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
    /** Returns whether a reread page lacks the last three sent items, so is probably truncated. */
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

const lifetimeMs = 3_600_000;

type SharedSentItems = ReturnType<typeof createSharedSentItems>;

/** Opens a store that all instances share. If the server fails, reads return `undefined`. */
export function createSharedSentItems(engine: Engine) {
  return {
    read: async (name: string) => {
      const text = await engine.run((client) => client.get(keyOf(name))).catch(() => null);
      if (text === null) return undefined;
      const bytes = Uint8Array.from(Buffer.from(text, 'base64'));
      return new Float64Array(bytes.buffer);
    },
    write: async (name: string, { buffer, byteOffset, byteLength }: Float64Array) => {
      const text = Buffer.from(buffer, byteOffset, byteLength).toString('base64');
      const expiration = { type: 'PX', value: lifetimeMs } as const;
      await engine.run((client) => client.set(keyOf(name), text, { expiration })).catch(() => {});
    },
  };
}

const keyOf = (name: string): string =>
  `sent:${createHash('sha256').update(name).digest('base64url')}`;
