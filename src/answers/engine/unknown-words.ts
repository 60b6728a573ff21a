import { stopWords, weakWords } from '../text/common-words.ts';
import { toWords } from '../text/words.ts';
import type { ConceptContext } from './concepts.ts';

/** What a question speaks of that the index has no word for. */
export interface UnknownWords {
  /** 1 where a name in capitals is among them, such as that of another product; else 0. */
  readonly name: number;
  /** The share of the telling words for which not even another word is known. */
  readonly share: number;
}

/** The most words that are looked at. */
const maxWords = 60;

const written = /[\p{L}\p{N}_$][\p{L}\p{N}_$.'’-]*/gu;

/**
 * Finds what a question speaks of that nobody wrote. A plain word may be missing from small docs that
 * answer all the same; a name in capitals, or a word that the tables do not know, seldom is.
 */
export function findUnknownWords(
  text: string,
  context: Pick<ConceptContext, 'lexicon' | 'synonyms' | 'everyday'>,
): UnknownWords {
  const telling = [...text.matchAll(written)]
    .slice(0, maxWords)
    .flatMap(({ 0: match, index }) => {
      const isName = /\p{Lu}/u.test(match) && !isSentenceStart(text, index);
      return toWords(match).words.map((word) => ({ ...word, isName }));
    })
    .filter(({ plain }) => !stopWords.has(plain) && !/^\d+$/.test(plain))
    .map((word) => ({ ...word, kind: judgeWord(word, context) }));
  const strange = telling.filter(({ plain, kind }) => kind === 'strange' && !weakWords.has(plain));
  const hasName = telling.some(
    ({ isName, kind }) => isName && (kind === 'strange' || kind === 'tabled'),
  );
  return {
    name: hasName ? 1 : 0,
    share: telling.length === 0 ? 0 : strange.length / telling.length,
  };
}

function isSentenceStart(text: string, at: number): boolean {
  return /(?:^|[.?!:;])\W*$/.test(text.slice(Math.max(0, at - 4), at));
}

/** Whether a word is in the index, may be a misspelling of one that is, is only in our tables, or in none. */
function judgeWord(
  { plain, stem }: { readonly plain: string; readonly stem: string },
  { lexicon, synonyms, everyday }: Pick<ConceptContext, 'lexicon' | 'synonyms' | 'everyday'>,
): 'known' | 'misspelt' | 'tabled' | 'strange' {
  if (lexicon.passagesWith(stem) > 0 || lexicon.passagesWith(plain) > 0) return 'known';
  if (synonyms(stem).length > 0 || everyday(stem).length > 0) return 'tabled';
  return lexicon.corrections(plain).length > 0 ? 'misspelt' : 'strange';
}
