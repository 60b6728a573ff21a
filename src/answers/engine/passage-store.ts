import { LRUCache } from 'lru-cache';
import type { PassageIndex } from '../index/passage-index.ts';
import { type Profile, toProfile } from './profile.ts';

/** What the engine asks of the passages of an index. What it saw is kept, within bounds, until `forget`. */
export interface PassageStore {
  /** One more than the highest id of a passage. */
  readonly span: number;
  /** The ids of the passages that hold a term. */
  anywhere(term: string): Postings;
  /** The ids of those that hold it in a title, a heading or a name. */
  above(term: string): Postings;
  /** A passage, made ready to be judged; undefined where it is gone. */
  profile(id: number): Profile | undefined;
  /** Looks anew: the index has changed. */
  forget(): void;
}

/** The ids of passages. */
export type Postings = Uint32Array;

/** Maximum bytes of ids of passages that are kept, half of it for each place of a term. */
const maxPostingBytes = 8_000_000;

/** Maximum number of passages that are kept, about 15 KiB each. */
const maxProfiles = 1500;

/** Creates a store that looks at the passages of an index, and keeps what it saw. */
export function createPassageStore(index: PassageIndex): PassageStore {
  const anywhere = createPostings(index, 'anywhere');
  const above = createPostings(index, 'above');
  const profiles = new LRUCache<number, Profile>({ max: maxProfiles });
  let span = index.span();
  return {
    get span() {
      return span;
    },
    anywhere: (term) => anywhere.memo(term),
    above: (term) => above.memo(term),
    profile: (id) => {
      const kept = profiles.get(id);
      if (kept !== undefined) return kept;
      const passage = index.passage(id);
      if (passage === undefined) return undefined;
      const profile = toProfile(passage);
      profiles.set(id, profile);
      return profile;
    },
    forget: () => {
      for (const kept of [anywhere, above, profiles]) kept.clear();
      span = index.span();
    },
  };
}

function createPostings(index: PassageIndex, where: 'anywhere' | 'above') {
  return new LRUCache<string, Postings>({
    maxSize: maxPostingBytes / 2,
    sizeCalculation: (ids) => Math.max(1, ids.byteLength),
    memoMethod: (term) => Uint32Array.from(index.postings(term, where)),
  });
}
