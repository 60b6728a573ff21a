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

/** The most that is kept: ids of passages in all (4 bytes each), and passages (about 15 KiB each). */
const most = { ids: 2_000_000, profiles: 1500 } as const;

/** Looks at the passages of an index, and keeps what it saw. */
export function createPassageStore(index: PassageIndex): PassageStore {
  const postings = { anywhere: new Map<string, Postings>(), above: new Map<string, Postings>() };
  const profiles = new Map<number, Profile>();
  let ids = 0;
  let span = index.span();
  const forgetPostings = () => {
    postings.anywhere.clear();
    postings.above.clear();
    ids = 0;
  };
  const look = (term: string, where: keyof typeof postings): Postings => {
    const kept = postings[where].get(term);
    if (kept !== undefined) return kept;
    const found = Uint32Array.from(index.postings(term, where));
    if (ids + found.length > most.ids) forgetPostings();
    ids += found.length;
    postings[where].set(term, found);
    return found;
  };
  return {
    get span() {
      return span;
    },
    anywhere: (term) => look(term, 'anywhere'),
    above: (term) => look(term, 'above'),
    profile: (id) => {
      const kept = profiles.get(id);
      if (kept !== undefined) return kept;
      const passage = index.passage(id);
      if (passage === undefined) return undefined;
      if (profiles.size >= most.profiles) profiles.clear();
      const profile = toProfile(passage);
      profiles.set(id, profile);
      return profile;
    },
    forget: () => {
      forgetPostings();
      profiles.clear();
      span = index.span();
    },
  };
}
