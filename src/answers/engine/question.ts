import type { EarlierTurn, Question } from '../answer.ts';
import type { Vocabulary } from '../text/vocabulary.ts';
import { toWords } from '../text/words.ts';

const pointing =
  /\b(?:it|its|that|this|they|them|their|these|those|there|one|same|former|latter|above)\b/i;
const opening = /^\s*(?:and|but|or|also|then|so|what about|how about|why|which one|ok|okay)\b/i;
/** The number of telling words from which a question needs nothing from earlier turns. */
const enough = 4;
/** Maximum number of words that are taken over from earlier turns. */
const maxTaken = 6;

/** Completes a question such as “and what is its default?” from earlier ones. `recentPaths` are those last cited. */
export function understand({ text, earlier }: Question, vocabulary: Vocabulary) {
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

/** Returns the subject of the last question that names one, or else words of the last two questions. */
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

/** Maximum number of parts of a question that are answered on their own. */
const maxParts = 4;

/** Places where a question can be split: between sentences, and at words that join two of them. */
const joints =
  /(?<=[?!.;]) | ?; ?|,? (?:and|then|but) (?:also |then )?|, (?=(?:how|what|which|where|when|why|who|can|is|are|does|do)\b)/i;

/**
 * Returns the parts of a question that could be asked on their own; none if it is one question, as “Start and
 * stop the server” is: a part must have something to ask about, and begin as a question or an order does.
 */
export function toParts(question: string, vocabulary: Vocabulary): readonly string[] {
  const pieces = question.replaceAll(/\s+/g, ' ').split(joints);
  const parts: string[] = [];
  for (const piece of pieces.map((one) => one.trim()).filter((one) => one !== '')) {
    const before = parts.at(-1);
    if (before !== undefined && !canStandAlone(piece, vocabulary)) {
      parts[parts.length - 1] = `${before} ${piece}`;
    } else parts.push(piece);
  }
  const [first = '', second = '', ...rest] = parts;
  const whole =
    canStandAlone(first, vocabulary) || second === '' ? parts : [`${first} ${second}`, ...rest];
  return whole.length < 2 ? [] : whole.slice(0, maxParts);
}

const askingWords: ReadonlySet<string> = new Set(
  'how what which where when why who can is are does do should'.split(' '),
);

/** Returns whether a text is a question or an order about something. */
function canStandAlone(piece: string, vocabulary: Vocabulary): boolean {
  const { stopWords, orderingWords } = vocabulary;
  const [first, ...rest] = toWords(piece).words;
  if (first === undefined) return false;
  if (askingWords.has(first.plain)) return tellingWords(piece, vocabulary).length >= 1;
  const hasObject = rest.some(({ plain }) => !stopWords.has(plain));
  return orderingWords.has(first.plain) && hasObject && rest.length >= 2;
}

function tellingWords(text: string, { stopWords, weakWords }: Vocabulary): readonly string[] {
  return toWords(text)
    .words.map(({ plain }) => plain)
    .filter((plain) => !stopWords.has(plain) && !weakWords.has(plain));
}
