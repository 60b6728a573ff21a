import type { Phrase, Vocabulary } from '../text/vocabulary.ts';
import { toStem, toWords } from '../text/words.ts';
import type { Lexicon } from './lexicon.ts';
import { weights } from './weights.ts';

/** Something that a question asks for, with all words that may stand for it. */
export interface Concept {
  /** Rare words weigh more. */
  readonly weight: number;
  /** The terms that it is looked up by, and how much each counts; 1 for the word itself. */
  readonly terms: ReadonlyMap<string, number>;
}

/** The concepts of a question, and the names in one piece that its words make: “body limit” makes `bodylimit`. */
export interface Concepts {
  readonly concepts: readonly Concept[];
  readonly names: ReadonlyMap<string, number>;
}

/** The words of the index, and those of the language. */
export type WordContext = Readonly<{ lexicon: Lexicon; vocabulary: Vocabulary }>;

/** Maximum number of words of a question that are looked up; the first ones say what it is about. */
const maxConcepts = 24;

/** Returns the concepts of a question. */
export function toConcepts(text: string, context: WordContext): Concepts {
  const { lexicon, vocabulary } = context;
  const { stopWords, takePhrases } = vocabulary;
  const { rest, found } = takePhrases(text.replaceAll(frame, ' … '));
  const { words, names } = toWords(rest);
  const telling = words.filter(({ plain }) => !stopWords.has(plain));
  const distinct = [...new Map(telling.map((word) => [word.stem, word])).values()];
  const plains = distinct.slice(0, maxConcepts).map(({ plain }) => plain);
  const written = [...new Set(names)].slice(0, maxConcepts).filter(lexicon.has);
  return {
    concepts: [
      ...plains.map((plain) => toConcept(plain, context)),
      // A name that the question writes as code does: nothing else is meant.
      ...written.map((name) => toWeighed(new Map([[name, 1]]), lexicon)),
      ...found.map((phrase) => toPhraseConcept(phrase, lexicon)),
    ],
    names: findNames(plains, [...names.slice(0, maxConcepts), ...neighbours(text)], lexicon),
  };
}

/** Words that only ask for a place. */
const frame =
  /\b(?:(?:in )?(?:which|what) (?:file|module|class|function|page|section|document|part of the docs)s?\b(?= (?:defin|declar|export|implement|contain|document|describ|explain|cover|is|are|has))|(?:is|are|gets?) (?:defined|declared|implemented|documented|explained|described)\b|(?:that |which )?(?:defines|declares|exports|implements|documents|describes|explains|covers)\b)/gi;

/** Adjacent words, in one piece: “log in” may be `login`, “body limit” `bodyLimit`. */
function neighbours(text: string): readonly string[] {
  const plains = toWords(text).words.map(({ plain }) => plain);
  return plains.slice(1, maxConcepts).map((plain, at) => `${plains[at]}${plain}`);
}

function toPhraseConcept({ meanings }: Phrase, lexicon: Lexicon): Concept {
  const known = meanings.map(toStem).filter(lexicon.has);
  const terms = new Map(known.map((term) => [term, weights.phrase]));
  return toWeighed(terms, lexicon, weights.phraseWeight);
}

function toConcept(plain: string, context: WordContext): Concept {
  const { lexicon } = context;
  const { synonyms, everyday, weakWords } = context.vocabulary;
  const stem = toStem(plain);
  const own = findOwnTerms(plain, context);
  const terms = new Map(own);
  const add = (others: readonly string[], factor: number) => {
    for (const other of others) {
      if (!terms.has(other) && lexicon.has(other)) terms.set(other, factor);
    }
  };
  add([stem, ...own.keys()].flatMap(synonyms), weights.synonym);
  add(everyday(stem), weights.everyday);
  return toWeighed(terms, lexicon, weakWords.has(plain) ? weights.weakWord : 1);
}

/** The word itself, or else what it may be a misspelling of. Words that have synonyms are no misspellings. */
function findOwnTerms(
  plain: string,
  { lexicon, vocabulary: { synonyms, everyday } }: WordContext,
): ReadonlyMap<string, number> {
  const stem = toStem(plain);
  // A name in small letters, as in “usechat”, is kept as it is; words are kept by their stems.
  const present = [...new Set([stem, plain])].filter(lexicon.has);
  if (present.length > 0) return new Map(present.map((own) => [own, 1]));
  if (synonyms(stem).length > 0 || everyday(stem).length > 0) return new Map();
  return new Map(lexicon.corrections(plain).map((term) => [term, weights.correction]));
}

/** Weighs a concept by its rarity: of all its terms together, each as often as it counts. */
function toWeighed(terms: Concept['terms'], lexicon: Lexicon, share = 1): Concept {
  let passages = 0;
  for (const [term, factor] of terms) passages += factor * lexicon.passagesWith(term);
  const most = lexicon.passages;
  const rarity = Math.log(1 + (most + 0.5) / (Math.min(passages, most) + 0.5)) ** weights.rarity;
  return { weight: share * rarity, terms };
}

/** Maximum distance in a question of two words that make a name. */
const pairSpan = 2;

/** Near words are paired in both orders: “the limit of a body” may mean `bodyLimit`. */
function findNames(plains: readonly string[], written: readonly string[], lexicon: Lexicon) {
  const few = plains.slice(0, 12);
  const pairs = few.flatMap((a, at) =>
    few.slice(at + 1, at + 1 + pairSpan).flatMap((b) => [a + b, b + a]),
  );
  const known = [...written, ...pairs].filter(lexicon.has);
  return new Map(known.map((name) => [name, toWeighed(new Map([[name, 1]]), lexicon).weight]));
}
