import { LRUCache } from 'lru-cache';
import type { ListPosition } from './list-position.ts';

/**
 * Remembers which items a walk has given before a position. A position itself has room for the last
 * of them only; with this memory an item is not repeated however far apart a source sends it. It is
 * bounded and gone after a restart: then the marks in the position are what a walk goes by.
 */
export interface WalkMemory {
  /** Gives the fingerprints of the items before a position, oldest first, where they are known. */
  recall(listKey: string, position: ListPosition): readonly number[] | undefined;
  remember(listKey: string, position: ListPosition, given: readonly number[]): void;
}

/** The most items of one walk that are remembered: more than any upstream lists. */
const maxItems = 5000;

const maxBytes = 16 * 1024 * 1024;

/** Creates a memory of no walk. */
export function createWalkMemory(): WalkMemory {
  const walks = new LRUCache<string, Float64Array>({
    maxSize: maxBytes,
    sizeCalculation: (given, key) => given.byteLength + 2 * key.length + 100,
  });
  return {
    recall: (listKey, position) => {
      const given = walks.get(nameOf(listKey, position));
      return given === undefined ? undefined : [...given];
    },
    remember: (listKey, position, given) => {
      walks.set(nameOf(listKey, position), Float64Array.from(given.slice(-maxItems)));
    },
  };
}

function nameOf(listKey: string, { provider, cursor, taken, page, recent }: ListPosition): string {
  return JSON.stringify([listKey, provider, cursor, taken, page, recent.slice(-4)]);
}
