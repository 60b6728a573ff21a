import type { Vocabulary } from '../../text/vocabulary.ts';
import { toWords } from '../../text/words.ts';
import type { Lexicon } from './lexicon.ts';

/** The most words that are looked at. */
const maxWords = 60;

const written = /[\p{L}\p{N}_$][\p{L}\p{N}_$.'’-]*/gu;

/**
 * True where a question has a name in capitals that nobody wrote, such as that of another product. Docs
 * may lack any plain word of a question and still answer it; of a name they seldom do.
 */
export function hasUnknownName(
  text: string,
  { lexicon, vocabulary }: { readonly lexicon: Lexicon; readonly vocabulary: Vocabulary },
): boolean {
  return [...text.matchAll(written)]
    .slice(0, maxWords)
    .filter(({ 0: match, index }) => /\p{Lu}/u.test(match) && !isSentenceStart(text, index))
    .flatMap(([match]) => toWords(match).words)
    .some(({ plain, stem }) => {
      if (vocabulary.stopWords.has(plain) || /^\d+$/.test(plain)) return false;
      if (lexicon.passagesWith(stem) > 0 || lexicon.passagesWith(plain) > 0) return false;
      return lexicon.corrections(plain).length === 0;
    });
}

function isSentenceStart(text: string, at: number): boolean {
  return /(?:^|[.?!:;])\W{0,4}$/.test(text.slice(Math.max(0, at - 4), at));
}
