import { LRUCache } from 'lru-cache';
import { editDistance } from '../../lib/suggest.ts';
import type { PassageIndex } from '../index/passage-index.ts';
import { toStem, toWords } from '../text/words.ts';
import type { WordContext } from './concepts.ts';

const maxCachedCounts = 20_000;

export type Lexicon = ReturnType<typeof createLexicon>;

/** Creates word statistics for the current state of an index, with a cache for each word. */
export function createLexicon(index: PassageIndex) {
  const counts = new LRUCache<string, number>({
    max: maxCachedCounts,
    memoMethod: (term) => index.passagesWith(term),
  });
  const { passages, meanWords } = index.totals();
  const passagesWith = (term: string) => counts.memo(term);
  return {
    passages,
    meanWords,
    passagesWith,
    has: (term: string) => passagesWith(term) > 0,
    /** Returns the stems of up to two likely corrections of a misspelt word, best first. */
    corrections: (word: string) => findCorrections(word, index, passagesWith),
  };
}

function findCorrections(
  word: string,
  index: PassageIndex,
  passagesWith: (term: string) => number,
): readonly string[] {
  if (!/^\p{L}{4,30}$/u.test(word)) return [];
  const limit = word.length >= 8 ? 2 : 1;
  const starts = new Set([word.slice(0, 1), word.slice(1, 2)]);
  const letters = lettersOf(word);
  const near = [...starts]
    .flatMap((start) => index.wordsLike(start, word.length - limit, word.length + limit))
    .filter((other) => countBits(letters ^ lettersOf(other)) <= 2 * limit)
    .map((other) => ({ other, stem: toStem(other), distance: editDistance(word, other, limit) }))
    .filter(({ other, distance }) => distance <= limit && !isAnotherForm(word, other))
    .map((one) => ({ ...one, passages: passagesWith(one.stem) }))
    .filter(({ passages }) => passages > 0)
    .sort((a, b) => a.distance - b.distance || b.passages - a.passages);
  const closest = near.filter(({ distance }) => distance === near[0]?.distance);
  return [...new Set(closest.map(({ stem }) => stem))].slice(0, 2);
}

function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) % 31);
  return letters;
}

function countBits(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}

function isAnotherForm(word: string, other: string): boolean {
  const withoutDoubles = (one: string) => one.replaceAll(/(.)\1+/g, '$1');
  if (withoutDoubles(word) === withoutDoubles(other)) return false;
  const shared = Math.min(word.length, other.length) - 1;
  return shared >= 5 && word.slice(0, shared) === other.slice(0, shared);
}

const maxWords = 60;

const written = /[\p{L}\p{N}_$][\p{L}\p{N}_$.'’-]*/gu;

/** Returns whether a capitalised name is neither in the index nor similar to an indexed word. */
export function hasUnknownName(text: string, { lexicon, vocabulary }: WordContext): boolean {
  return [...text.matchAll(written)]
    .slice(0, maxWords)
    .filter(({ 0: match, index }) => /\p{Lu}/u.test(match) && !isSentenceStart(text, index))
    .flatMap(([match]) => toWords(match).words)
    .some(({ plain, stem }) => {
      if (vocabulary.stopWords.has(plain) || /^\d+$/.test(plain)) return false;
      return !lexicon.has(stem) && !lexicon.has(plain) && lexicon.corrections(plain).length === 0;
    });
}

function isSentenceStart(text: string, at: number): boolean {
  return /(?:^|[.?!:;])\W{0,4}$/.test(text.slice(Math.max(0, at - 4), at));
}
