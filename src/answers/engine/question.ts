import type { Vocabulary } from '../text/words.ts';
import { toWords } from '../text/words.ts';

const maxParts = 4;

const splitPoints =
  /(?<=[?!.;]) | ?; ?|,? (?:and|then|but) (?:also |then )?|, (?=(?:how|what|which|where|when|why|who|can|is|are|does|do)\b)/i;

/** Splits a text into questions. Returns an empty list if it has only one. */
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

function isStandalone(piece: string, vocabulary: Vocabulary): boolean {
  const { stopWords, orderingWords } = vocabulary;
  const [first, ...rest] = toWords(piece).words;
  if (first === undefined) return false;
  if (askingWords.has(first.plain)) return contentWords(piece, vocabulary).length >= 1;
  const hasObject = rest.some(({ plain }) => !stopWords.has(plain));
  return orderingWords.has(first.plain) && hasObject && rest.length >= 2;
}

/** Returns the words that describe the subject: no stop words and no very common words. */
export function contentWords(
  text: string,
  { stopWords, weakWords }: Vocabulary,
): readonly string[] {
  return toWords(text)
    .words.map(({ plain }) => plain)
    .filter((plain) => !stopWords.has(plain) && !weakWords.has(plain));
}
