import type { EarlierTurn, Question } from '../answer.ts';
import type { Vocabulary } from '../text/vocabulary.ts';
import { toWords } from '../text/words.ts';

const pronouns =
  /\b(?:it|its|that|this|they|them|their|these|those|there|one|same|former|latter|above)\b/i;
const opening = /^\s*(?:and|but|or|also|then|so|what about|how about|why|which one|ok|okay)\b/i;
/** Matches the beginning of a question that only adds a condition to an earlier question, such as “on Windows?”. */
const circumstance =
  /^\s*(?:after|as|at|before|by|during|even|for|from|if|in|on|only|still|to|when|with|without|which)\b/i;
/**
 * Minimum number of content words in a question that is independent of earlier questions. Content
 * words are words that are neither stop words nor very common.
 */
const minContentWords = 4;
/** Maximum number of words from earlier questions that are added to a follow-up question. */
const maxAddedWords = 6;

/**
 * Returns the context of a question that is incomplete by itself: words of the other sentences of its message
 * (`aside`) or of earlier questions (`topic`), and the citations of the last answer (`cited`). Both are empty if the
 * question is complete.
 */
export function resolveFollowUp(
  { text, earlier }: Question,
  aside: string,
  vocabulary: Vocabulary,
) {
  const none = { topic: '', cited: [] };
  const isEmpty = contentWords(text, vocabulary).length === 0;
  if (aside !== '' && isEmpty) {
    return { ...none, topic: contentWords(aside, vocabulary).slice(0, maxAddedWords).join(' ') };
  }
  if (!isFollowUp(text, vocabulary)) return none;
  const last = earlier.at(-1);
  if (last === undefined) return none;
  return { topic: subjectOf(earlier, vocabulary).join(' '), cited: last.citations };
}

function isFollowUp(text: string, vocabulary: Vocabulary): boolean {
  const count = contentWords(text, vocabulary).length;
  if (count === 0) return true;
  const refers =
    opening.test(text) ||
    circumstance.test(text) ||
    pronouns.test(text.replace(/\b(?:is|are) there\b/i, ''));
  return count < minContentWords && refers;
}

/**
 * Returns content words (no stop words) of the last question that is not a follow-up. If all
 * questions are follow-ups, returns content words of the last two questions.
 */
function subjectOf(earlier: readonly EarlierTurn[], vocabulary: Vocabulary): readonly string[] {
  for (const { question } of earlier.toReversed()) {
    const words = contentWords(question, vocabulary);
    if (words.length === 0 || isFollowUp(question, vocabulary)) continue;
    // Identifiers, such as an error code, describe a subject better than the words that they consist of.
    return [...toWords(question).names, ...words].slice(0, maxAddedWords);
  }
  return earlier
    .slice(-2)
    .flatMap(({ question }) => contentWords(question, vocabulary))
    .slice(0, maxAddedWords);
}

/** Maximum number of parts of a question that are answered separately. */
const maxParts = 4;

/** Matches the places where a question can be split: between sentences and at conjunctions. */
const splitPoints =
  /(?<=[?!.;]) | ?; ?|,? (?:and|then|but) (?:also |then )?|, (?=(?:how|what|which|where|when|why|who|can|is|are|does|do)\b)/i;

/** Splits a text into separate questions. Returns an empty list if the text has only one question. */
export function toParts(question: string, vocabulary: Vocabulary): readonly string[] {
  const pieces = question.replaceAll(/\s+/g, ' ').split(splitPoints);
  const parts: string[] = [];
  for (const piece of pieces.map((one) => one.trim()).filter((one) => one !== '')) {
    const before = parts.at(-1);
    if (before !== undefined && !isStandalone(piece, vocabulary)) {
      parts[parts.length - 1] = `${before} ${piece}`;
    } else parts.push(piece);
  }
  const [first = '', second = '', ...rest] = parts;
  const whole =
    isStandalone(first, vocabulary) || second === '' ? parts : [`${first} ${second}`, ...rest];
  return whole.length < 2 ? [] : whole.slice(0, maxParts);
}

const askingWords: ReadonlySet<string> = new Set(
  'how what which where when why who can is are does do should'.split(' '),
);

/** Returns whether a text is a complete question or a complete instruction. */
function isStandalone(piece: string, vocabulary: Vocabulary): boolean {
  const { stopWords, orderingWords } = vocabulary;
  const [first, ...rest] = toWords(piece).words;
  if (first === undefined) return false;
  if (askingWords.has(first.plain)) return contentWords(piece, vocabulary).length >= 1;
  const hasObject = rest.some(({ plain }) => !stopWords.has(plain));
  return orderingWords.has(first.plain) && hasObject && rest.length >= 2;
}

function contentWords(text: string, { stopWords, weakWords }: Vocabulary): readonly string[] {
  return toWords(text)
    .words.map(({ plain }) => plain)
    .filter((plain) => !stopWords.has(plain) && !weakWords.has(plain));
}
