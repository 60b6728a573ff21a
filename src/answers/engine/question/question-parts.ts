import type { Vocabulary } from '../../text/vocabulary.ts';
import { toWords } from '../../text/words.ts';

/** The most parts of a question that are answered each on its own. */
const maxParts = 4;

/** Where a question may part: its sentences, and what joins two of them. */
const joints =
  /(?<=[?!.;]) | ?; ?|,? (?:and|then|but) (?:also |then )?|, (?=(?:how|what|which|where|when|why|who|can|is|are|does|do)\b)/i;

/**
 * Gives the parts of a question that could be asked on their own; none where it is one question.
 * “Start and stop the server” is one: a part must have something to ask about, and begin as a
 * question or an order does.
 */
export function toParts(question: string, vocabulary: Vocabulary): readonly string[] {
  const pieces = question
    .replaceAll(/\s+/g, ' ')
    .split(joints)
    .filter((piece) => piece !== undefined && piece.trim() !== '');
  const parts: string[] = [];
  for (const piece of pieces.map((one) => one.trim())) {
    const before = parts.at(-1);
    if (before !== undefined && !canStandAlone(piece, vocabulary))
      parts[parts.length - 1] = `${before} ${piece}`;
    else parts.push(piece);
  }
  const [first = '', second = '', ...rest] = parts;
  const whole =
    canStandAlone(first, vocabulary) || second === '' ? parts : [`${first} ${second}`, ...rest];
  return whole.length < 2 ? [] : whole.slice(0, maxParts);
}

/** Words that begin a question. */
const askingWords: ReadonlySet<string> = new Set(
  'how what which where when why who can is are does do should'.split(' '),
);

/** Tells whether a text asks or orders, and says about what. */
function canStandAlone(piece: string, vocabulary: Vocabulary): boolean {
  const { stopWords, weakWords, orderingWords } = vocabulary;
  const { words } = toWords(piece);
  const telling = words.filter(({ plain }) => !stopWords.has(plain) && !weakWords.has(plain));
  const [first] = words;
  if (first === undefined) return false;
  if (askingWords.has(first.plain)) return telling.length >= 1;
  const object = words.slice(1).filter(({ plain }) => !stopWords.has(plain));
  return orderingWords.has(first.plain) && object.length >= 1 && words.length >= 3;
}
