import type { Phrase, Vocabulary } from '../text/words.ts';
import { toStem, toWords } from '../text/words.ts';
import type { Lexicon } from './lexicon.ts';
import { weights } from './weights.ts';

/** Concept of a question: a word or phrase, with all terms that match it. */
export interface Concept {
  /** Search weight of the word or phrase. It is higher for rare words. */
  readonly weight: number;
  /** Terms to search for, each with a factor: 1 for the word itself, less for synonyms. */
  readonly terms: ReadonlyMap<string, number>;
}

/** Parts of a question to search for. `names` are identifiers with their weights. */
export interface Concepts {
  readonly concepts: readonly Concept[];
  readonly names: ReadonlyMap<string, number>;
}

export type WordContext = Readonly<{ lexicon: Lexicon; vocabulary: Vocabulary }>;

const maxConcepts = 24;

export function toConcepts(text: string, context: WordContext): Concepts {
  const { lexicon, vocabulary } = context;
  const { stopWords, takePhrases } = vocabulary;
  const { rest, found } = takePhrases(text.replaceAll(emptyPhrases, ' … '));
  const { words, names } = toWords(rest);
  // Ignores a number that no passage contains, such as the port of the user, because it does not
  // describe the subject.
  const isExample = (plain: string) => /^\d+$/.test(plain) && !lexicon.has(plain);
  const contentWords = words.filter(({ plain }) => !stopWords.has(plain) && !isExample(plain));
  const distinct = [...new Map(contentWords.map((word) => [word.stem, word])).values()];
  const plains = distinct.slice(0, maxConcepts).map(({ plain }) => plain);
  const identifiers = [...new Set(names)].slice(0, maxConcepts).filter(lexicon.has);
  return {
    concepts: [
      ...plains.map((plain) => toConcept(plain, context)),
      // An identifier in the question has no synonyms.
      ...identifiers.map((name) => weighConcept(new Map([[name, 1]]), lexicon)),
      ...found
        .map((phrase) => toPhraseConcept(phrase, lexicon))
        .filter(({ terms }) => terms.size > 0), // skips phrases whose meanings are not in the index
    ],
    names: findNames(plains, [...names.slice(0, maxConcepts), ...neighbours(text)], lexicon),
  };
}

/** Matches parts that are not searched for, such as “which file defines” and “e.g.”. */
const emptyPhrases =
  /\b(?:e\.g|i\.e)\b|\b(?:(?:in )?(?:which|what) (?:file|module|class|function|page|section|document|part of the docs)s?\b(?= (?:defin|declar|export|implement|contain|document|describ|explain|cover|is|are|has))|(?:is|are|gets?) (?:defined|declared|implemented|documented|explained|described)\b|(?:that |which )?(?:defines|declares|exports|implements|documents|describes|explains|covers)\b)/gi;

function neighbours(text: string): readonly string[] {
  const plains = toWords(text).words.map(({ plain }) => plain);
  return plains.slice(1, maxConcepts).map((plain, at) => `${plains[at]}${plain}`);
}

function toPhraseConcept({ meanings }: Phrase, lexicon: Lexicon): Concept {
  const known = meanings.map(toStem).filter(lexicon.has);
  const terms = new Map(known.map((term) => [term, weights.phrase]));
  return weighConcept(terms, lexicon, weights.phraseWeight);
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
  return weighConcept(terms, lexicon, weakWords.has(plain) ? weights.weakWord : 1);
}

function findOwnTerms(
  plain: string,
  { lexicon, vocabulary: { synonyms, everyday } }: WordContext,
): ReadonlyMap<string, number> {
  const stem = toStem(plain);
  // The index contains the stems of words, but identifiers such as “usechat” unchanged.
  const present = [...new Set([stem, plain])].filter(lexicon.has);
  if (present.length > 0) return new Map(present.map((own) => [own, 1]));
  if (synonyms(stem).length > 0 || everyday(stem).length > 0) return new Map();
  return new Map(lexicon.corrections(plain).map((term) => [term, weights.correction]));
}

function weighConcept(terms: Concept['terms'], lexicon: Lexicon, share = 1): Concept {
  let passages = 0;
  for (const [term, factor] of terms) passages += factor * lexicon.passagesWith(term);
  const total = lexicon.passages;
  const rarity = Math.log(1 + (total + 0.5) / (Math.min(passages, total) + 0.5)) ** weights.rarity;
  return { weight: share * rarity, terms };
}

const pairSpan = 2;

function findNames(plains: readonly string[], identifiers: readonly string[], lexicon: Lexicon) {
  const first = plains.slice(0, 12);
  const pairs = first.flatMap((a, at) =>
    first.slice(at + 1, at + 1 + pairSpan).flatMap((b) => [a + b, b + a]),
  );
  const known = [...identifiers, ...pairs].filter(lexicon.has);
  return new Map(known.map((name) => [name, weighConcept(new Map([[name, 1]]), lexicon).weight]));
}
