import type { Post } from '../../model/post.ts';
import { textOf } from './post-words.ts';
import type { SearchText, Term } from './search-query.ts';
import { toWords } from './words.ts';

const maxOrdered = 8;

type Terms = Pick<SearchText, 'include' | 'exclude'>;

interface DividedTerms {
  /** Terms that the index checks. It finds all matching posts, and possibly others. */
  readonly indexed: Terms;
  /** Checks a post that the index found for the other terms; `null` if there are none. */
  readonly matches: ((post: Post) => boolean) | null;
}

/** Divides terms so that long phrases are compared only with posts that the index found. */
export function dividePhrases({ include, exclude }: Terms): DividedTerms {
  let left = maxOrdered;
  const take = ({ words }: Term): number => {
    const taken = words.length === 1 ? 1 : Math.min(left, words.length);
    if (words.length > 1) left -= taken;
    return taken;
  };
  const wanted = include.map((term) => ({ term, taken: take(term) }));
  const unwanted = exclude.map((term) => ({ term, taken: take(term) }));
  const indexed = {
    include: wanted.flatMap(({ term, taken }) => splitAt(term, taken)),
    // The start of a phrase would exclude too many posts.
    exclude: unwanted.filter(isIndexed).map(({ term }) => term),
  };
  const checked = { include: wanted.filter(isCut), exclude: unwanted.filter(isCut) };
  if (checked.include.length + checked.exclude.length === 0) return { indexed, matches: null };
  return { indexed, matches: (post) => hasPhrases(post, checked) };
}

interface TakenTerm {
  readonly term: Term;
  /** Number of words at the start of the term whose order the index checks. */
  readonly taken: number;
}

const isIndexed = ({ term, taken }: TakenTerm): boolean => taken === term.words.length;
const isCut = (one: TakenTerm): boolean => !isIndexed(one);

function splitAt({ column, words }: Term, count: number): readonly Term[] {
  const phrase = count === 0 ? [] : [{ column, words: words.slice(0, count) }];
  const others = [...new Set(words.slice(count))].map((word) => ({ column, words: [word] }));
  return [...phrase, ...others];
}

function hasPhrases(
  post: Post,
  { include, exclude }: Readonly<Record<keyof Terms, readonly TakenTerm[]>>,
): boolean {
  if (post.type === 'tombstone') return false;
  const text = toPhrase(toWords(textOf(post)));
  const has = ({ term }: TakenTerm) => text.includes(toPhrase(term.words));
  return include.every(has) && !exclude.some(has);
}

const toPhrase = (words: readonly string[]): string =>
  // The lower case of Greek and German capitals is not always the letter that the index compares.
  ` ${words.join(' ')} `.toUpperCase().toLowerCase();
