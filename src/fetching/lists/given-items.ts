import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { postKey } from '../cache/subjects.ts';
import type { ListItem, ListPosition } from './browse.ts';

/** Maximum number of marks in a position. */
export const maxRecent = 96;

/** So many of the items taken last show that a page still reaches as far as it did. */
const witnessesOfLength = 3;

const maxItems = 5000;

const maxBytes = 16 * 1024 * 1024;

export type WalkMemory = ReturnType<typeof createWalkMemory>;

/**
 * Creates the bounded memory of the items that walks have given before a position, which has room for
 * the last of them only. Without it, after a restart, a walk uses the marks in the position.
 */
export function createWalkMemory() {
  const walks = new LRUCache<string, Float64Array>({
    maxSize: maxBytes,
    sizeCalculation: (given, key) => given.byteLength + 2 * key.length + 100,
  });
  const nameOf = (listKey: string, { provider, cursor, taken, page, recent }: ListPosition) =>
    JSON.stringify([listKey, provider, cursor, taken, page, recent.slice(-4)]);
  return {
    /** Returns the fingerprints of the items before a position, oldest first, if they are known. */
    recall: (listKey: string, position: ListPosition): readonly number[] | undefined => {
      const given = walks.get(nameOf(listKey, position));
      return given && [...given];
    },
    remember: (listKey: string, position: ListPosition, given: readonly number[]): void => {
      walks.set(nameOf(listKey, position), Float64Array.from(given.slice(-maxItems)));
    },
  };
}

export type GivenItems = ReturnType<typeof createGivenItems>;

/** Creates the collection of the items that one walk has given, by fingerprints or marks. */
export function createGivenItems({ recent }: ListPosition, remembered?: readonly number[]) {
  const fingerprints = [...(remembered ?? recent.map(fromMark))];
  const seen = new Set(fingerprints);
  const hasSeen = (fingerprint: number) =>
    seen.has(fingerprint) || seen.has(fromMark(toMark(fingerprint)));
  /** Returns the index of the first item that is one of the last `taken`; -1 if there is none. */
  const findTaken = (items: readonly ListItem[], taken: number): number => {
    const marks = new Set(fingerprints.slice(-taken).map(toMark));
    return items.findIndex((item) => {
      const fingerprint = fingerprintOf(item);
      return fingerprint !== null && marks.has(toMark(fingerprint));
    });
  };
  return {
    fingerprints: fingerprints as readonly number[],
    get marks() {
      return fingerprints.slice(-maxRecent).map(toMark);
    },
    add: (items: readonly ListItem[]): void => {
      for (const fingerprint of items.flatMap((item) => fingerprintOf(item) ?? [])) {
        seen.add(fingerprint);
        fingerprints.push(fingerprint);
      }
    },
    /**
     * Returns the items of a page that were not given before, each once. The last `taken` items came
     * from it; on lists that grow on top, those above the first of them are new.
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
    /** Returns whether a page lacks all of the last few of the `taken` items that were taken of it. */
    lacksLastOf: (items: readonly ListItem[], taken: number): boolean =>
      findTaken(items, Math.min(taken, witnessesOfLength)) === -1,
  };
}

/** Returns 48 bits of a hash of an item's name; `null` for a post that is gone without one. */
function fingerprintOf(item: ListItem): number | null {
  const key = 'type' in item ? postKey(item) : item.id;
  return key === null ? null : createHash('sha256').update(key).digest().readUIntBE(0, 6);
}

function toMark(fingerprint: number): number {
  return fingerprint < 0 ? -1 - fingerprint : fingerprint % 2 ** 32;
}

/** Returns a fingerprint that stands for any item with a mark. It is negative, so it is no item's own. */
function fromMark(mark: number): number {
  return -1 - mark;
}
