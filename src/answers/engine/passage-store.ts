import { LRUCache } from 'lru-cache';
import type { PassageIndex } from '../index/passage-index.ts';
import { type Profile, toProfile } from './profile.ts';

/** Maximum bytes of ids of passages that are kept, half of it for each place of a term. */
const maxPostingBytes = 8_000_000;

/** Maximum number of passages that are kept, about 15 KiB each. */
const maxProfiles = 1500;

/** One state of the passages of an index. What was read is kept, within bounds. */
export type PassageStore = ReturnType<typeof createPassageStore>;

/** Creates a store for the current state of an index. */
export function createPassageStore(index: PassageIndex) {
  const anywhere = createPostings(index, 'anywhere');
  const above = createPostings(index, 'above');
  const profiles = new LRUCache<number, Profile>({ max: maxProfiles });
  return {
    /** One more than the highest id of a passage. */
    span: index.span(),
    /** Returns the ids of the passages that have a term. */
    anywhere: (term: string) => anywhere.memo(term),
    /** Returns the ids of the passages that have a term in a title, a heading or a name. */
    above: (term: string) => above.memo(term),
    profile: (id: number): Profile | undefined => {
      const kept = profiles.get(id);
      if (kept !== undefined) return kept;
      const passage = index.passage(id);
      if (passage === undefined) return undefined;
      const profile = toProfile(passage);
      profiles.set(id, profile);
      return profile;
    },
  };
}

function createPostings(index: PassageIndex, where: 'anywhere' | 'above') {
  return new LRUCache<string, Uint32Array>({
    maxSize: maxPostingBytes / 2,
    sizeCalculation: (ids) => Math.max(1, ids.byteLength),
    memoMethod: (term) => Uint32Array.from(index.postings(term, where)),
  });
}
