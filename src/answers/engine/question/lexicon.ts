import { LRUCache } from 'lru-cache';
import { editDistance } from '../../../core/near-name.ts';
import type { PassageIndex } from '../../index/passage-index.ts';
import { toStem } from '../../text/words.ts';

/** What the engine asks of the words of an index. Counts are kept until `forget`. */
export interface Lexicon {
  /** In how many passages a term is. */
  passagesWith(term: string): number;
  /** The stems of the words that a word nobody wrote may be a misspelling of, best first. */
  corrections(word: string): readonly string[];
  /** The passages of the index. */
  readonly passages: number;
  /** The mean number of words in a passage. */
  readonly meanWords: number;
  /** Counts anew: the index has changed. */
  forget(): void;
}

const maxKept = 20_000;

/** Looks at the words of an index, and keeps what it saw. */
export function createLexicon(index: PassageIndex): Lexicon {
  const counts = new LRUCache<string, number>({
    max: maxKept,
    memoMethod: (term) => index.passagesWith(term),
  });
  let totals = index.totals();
  const passagesWith = (term: string) => counts.memo(term);
  return {
    passagesWith,
    corrections: (word) => findCorrections(word, { index, passagesWith }),
    get passages() {
      return totals.passages;
    },
    get meanWords() {
      return totals.meanWords;
    },
    forget: () => {
      counts.clear();
      totals = index.totals();
    },
  };
}

const maxCorrections = 2;

/** Short words have too many neighbours; numbers are never misspelt words. */
function findCorrections(word: string, { index, passagesWith }: Looks): readonly string[] {
  if (!/^\p{L}{4,30}$/u.test(word)) return [];
  const slack = word.length >= 8 ? 2 : 1;
  const starts = new Set([word.slice(0, 1), word.slice(1, 2)]);
  const letters = lettersOf(word);
  const near = [...starts]
    .flatMap((start) => index.wordsLike(start, word.length - slack, word.length + slack))
    .filter((other) => countBits(letters ^ lettersOf(other)) <= 2 * slack)
    .map((other) => ({ other, stem: toStem(other), distance: editDistance(word, other, slack) }))
    .filter(({ other, distance }) => distance <= slack && !isAnotherForm(word, other))
    .map((one) => ({ ...one, passages: passagesWith(one.stem) }))
    .filter(({ passages }) => passages > 0)
    .sort((a, b) => a.distance - b.distance || b.passages - a.passages);
  const closest = near.filter(({ distance }) => distance === near[0]?.distance);
  return [...new Set(closest.map(({ stem }) => stem))].slice(0, maxCorrections);
}

/** Which letters a word has, a bit for each: a look at it saves most comparisons of words. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) % 31);
  return letters;
}

function countBits(bits: number): number {
  let left = bits;
  let count = 0;
  for (; left !== 0; count += 1) left &= left - 1;
  return count;
}

/** “Printer” is no misspelling of “printed”: words that differ at their ends alone are words of their own. */
function isAnotherForm(word: string, other: string): boolean {
  const shared = Math.min(word.length, other.length) - 1;
  return shared >= 5 && word.slice(0, shared) === other.slice(0, shared);
}

interface Looks {
  readonly index: PassageIndex;
  passagesWith(term: string): number;
}
