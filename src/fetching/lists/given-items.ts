import { postKey } from '../cache/post-key.ts';
import type { ListItem } from './browse-query.ts';
import { fromMark, type ListPosition, maxRecent, toFingerprint, toMark } from './list-position.ts';

/** How many of the items taken last tell that a page still reaches as far as it did. */
const witnessesOfLength = 3;

/** What a walk has given: the items before a position, and those that are given from there on. */
export interface GivenItems {
  /** Fingerprints, oldest first, as far as they are known. */
  readonly fingerprints: readonly number[];
  /** Marks of the last of them, for a position. */
  readonly marks: readonly number[];
  /** Notes that items are given. */
  add(items: readonly ListItem[]): void;
  /**
   * Leaves out of a page what was given before, and what it has twice. `taken` of its items were the
   * last ones given. On lists that grow on top, what stands above the first of them has come since:
   * the walk has passed it.
   */
  freshOf(
    items: readonly ListItem[],
    page: { readonly taken: number; readonly isNewestFirst: boolean },
  ): readonly ListItem[];
  /** Tells whether a page lacks all of the last few of the `taken` items that were taken of it. */
  lacksLastOf(items: readonly ListItem[], taken: number): boolean;
}

/**
 * Creates the memory of one walk from the fingerprints of what was given before its position; where
 * they are not known, from the marks in the position itself.
 */
export function createGivenItems(
  position: ListPosition,
  remembered: readonly number[] | undefined,
): GivenItems {
  const fingerprints = [...(remembered ?? position.recent.map(fromMark))];
  const seen = new Set(fingerprints);
  const hasSeen = (fingerprint: number) =>
    seen.has(fingerprint) || seen.has(fromMark(toMark(fingerprint)));
  const marksOfLast = (taken: number) => new Set(fingerprints.slice(-taken).map(toMark));
  return {
    fingerprints,
    get marks() {
      return fingerprints.slice(-maxRecent).map(toMark);
    },
    add: (items) => {
      for (const fingerprint of items.map(fingerprintOf)) {
        if (fingerprint === null) continue;
        seen.add(fingerprint);
        fingerprints.push(fingerprint);
      }
    },
    freshOf: (items, { taken, isNewestFirst }) => {
      const skipped = taken > 0 && isNewestFirst ? findFirst(items, marksOfLast(taken)) : 0;
      return dropRepeated(items.slice(skipped), hasSeen);
    },
    lacksLastOf: (items, taken) => {
      const last = marksOfLast(Math.min(taken, witnessesOfLength));
      return findFirst(items, last, -1) === -1;
    },
  };
}

function findFirst(
  items: readonly ListItem[],
  marks: ReadonlySet<number>,
  otherwise: number = 0,
): number {
  const at = items.findIndex((item) => {
    const fingerprint = fingerprintOf(item);
    return fingerprint !== null && marks.has(toMark(fingerprint));
  });
  return at === -1 ? otherwise : at;
}

function dropRepeated(
  items: readonly ListItem[],
  hasSeen: (fingerprint: number) => boolean,
): readonly ListItem[] {
  const own = new Set<number>();
  return items.filter((item) => {
    const fingerprint = fingerprintOf(item);
    if (fingerprint === null) return true;
    const isRepeated = own.has(fingerprint) || hasSeen(fingerprint);
    own.add(fingerprint);
    return !isRepeated;
  });
}

/**
 * Null for what has no id: a post that is gone, which two places may show. Where ids of posts are unique
 * for an author or a server alone, the address tells them apart.
 */
function fingerprintOf(item: ListItem): number | null {
  const key = 'type' in item ? postKey(item) : item.id;
  return key === null ? null : toFingerprint(key);
}
