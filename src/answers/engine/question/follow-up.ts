import type { EarlierTurn, Question } from '../../answer.ts';
import type { Vocabulary } from '../../text/vocabulary.ts';
import { toWords } from '../../text/words.ts';

/** A question with what the turns before it add to it. */
export interface Understood {
  /** What is looked up. */
  readonly text: string;
  /** The paths that the turn before cited, where the question goes on from it. */
  readonly recentPaths: readonly string[];
}

const pointing =
  /\b(?:it|its|that|this|they|them|their|these|those|there|one|same|former|latter|above)\b/i;
const opening = /^\s*(?:and|but|or|also|then|so|what about|how about|why|which one|ok|okay)\b/i;

/** The words of a question that stand for themselves, from which it needs nothing before it. */
const enough = 4;

/** The most words that are taken over. */
const maxTaken = 6;

/** Completes a question such as “and what is its default?” with what was asked before. */
export function understand({ text, earlier }: Question, vocabulary: Vocabulary): Understood {
  const last = earlier.at(-1);
  if (last === undefined || !goesOn(text, vocabulary)) return { text, recentPaths: [] };
  return {
    text: `${text} ${subjectOf(earlier, vocabulary).join(' ')}`,
    recentPaths: last.citations.map(({ path }) => path),
  };
}

function goesOn(text: string, vocabulary: Vocabulary): boolean {
  const count = tellingWords(text, vocabulary).length;
  if (count === 0) return true;
  return count < enough && (pointing.test(text) || opening.test(text));
}

/** What was asked about: by the last question that says so itself. */
function subjectOf(earlier: readonly EarlierTurn[], vocabulary: Vocabulary): readonly string[] {
  for (const { question } of earlier.toReversed()) {
    const words = tellingWords(question, vocabulary);
    if (words.length > 0 && !goesOn(question, vocabulary)) return words.slice(0, maxTaken);
  }
  return earlier
    .slice(-2)
    .flatMap(({ question }) => tellingWords(question, vocabulary))
    .slice(0, maxTaken);
}

function tellingWords(text: string, { stopWords, weakWords }: Vocabulary): readonly string[] {
  return toWords(text)
    .words.map(({ plain }) => plain)
    .filter((plain) => !stopWords.has(plain) && !weakWords.has(plain));
}
