import type { Phrase, Vocabulary } from '../../text/vocabulary.ts';
import { toStem, toWords } from '../../text/words.ts';
import type { Weights } from '../confidence/weights.ts';
import type { Lexicon } from './lexicon.ts';

/** Something that a question asks for, with all words that may stand for it. */
export interface Concept {
  /** The word of the question. */
  readonly plain: string;
  /** How much it matters, by how rare it is. */
  readonly weight: number;
  /** What it is looked up by, and how much each counts; 1 for the word itself. */
  readonly terms: ReadonlyMap<string, number>;
}

/** What a question is looked up by. */
export interface Concepts {
  readonly concepts: readonly Concept[];
  /** Names in one piece that words of the question make: “body limit” makes `bodylimit`. */
  readonly names: ReadonlyMap<string, number>;
}

/** What concepts are made with. */
export interface ConceptContext {
  readonly lexicon: Lexicon;
  readonly vocabulary: Vocabulary;
  readonly weights: Weights;
}

/** The most words of a question that are looked at; the first ones say what it is about. */
const maxConcepts = 24;

/** Finds out what a text asks for. */
export function toConcepts(text: string, context: ConceptContext): Concepts {
  const { stopWords, takePhrases } = context.vocabulary;
  const { rest, found } = takePhrases(text.replaceAll(frame, ' … '));
  const { words, names } = toWords(rest);
  const telling = words.filter(({ plain }) => !stopWords.has(plain));
  const distinct = [...new Map(telling.map((word) => [word.stem, word])).values()];
  const plains = distinct.slice(0, maxConcepts).map(({ plain }) => plain);
  const phrases = found.map((phrase) => toPhraseConcept(phrase, context));
  const written = [...new Set(names)]
    .slice(0, maxConcepts)
    .filter((name) => context.lexicon.passagesWith(name) > 0);
  const concepts = [
    ...plains.map((plain) => toConcept(plain, context)),
    ...written.map((name) => toNameConcept(name, context)),
    ...phrases,
  ];
  return {
    concepts,
    names: findNames(plains, [...names.slice(0, maxConcepts), ...neighbours(text)], context),
  };
}

/** What only says that a place is asked for. */
const frame =
  /\b(?:(?:in )?(?:which|what) (?:file|module|class|function|page|section|document|part of the docs)s?\b(?= (?:defin|declar|export|implement|contain|document|describ|explain|cover|is|are|has))|(?:is|are|gets?) (?:defined|declared|implemented|documented|explained|described)\b|(?:that |which )?(?:defines|declares|exports|implements|documents|describes|explains|covers)\b)/gi;

/** A name that the question writes as code does: whoever writes it so means nothing else. */
function toNameConcept(name: string, context: ConceptContext): Concept {
  const terms = new Map([[name, 1]]);
  return { plain: name, weight: weigh(terms, context), terms };
}

/** Words that stand side by side, in one piece: “log in” may be `login`, “body limit” `bodyLimit`. */
function neighbours(text: string): readonly string[] {
  const plains = toWords(text).words.map(({ plain }) => plain);
  return plains.slice(1, maxConcepts).map((plain, at) => `${plains[at]}${plain}`);
}

/** A phrase counts for what it is called, and no more than a synonym where that is vague. */
function toPhraseConcept({ text, meanings }: Phrase, context: ConceptContext): Concept {
  const { lexicon, weights } = context;
  const known = meanings.map(toStem).filter((term) => lexicon.passagesWith(term) > 0);
  const terms = new Map(known.map((term) => [term, weights.phrase]));
  return {
    plain: text,
    weight: weights.phraseWeight * weigh(terms, context),
    terms,
  };
}

function toConcept(plain: string, context: ConceptContext): Concept {
  const { lexicon, vocabulary, weights } = context;
  const { synonyms, everyday, weakWords } = vocabulary;
  const stem = toStem(plain);
  const own = findOwnTerms(plain, context);
  const terms = new Map(own);
  const add = (others: readonly string[], factor: number) => {
    for (const other of others) {
      if (!terms.has(other) && lexicon.passagesWith(other) > 0) terms.set(other, factor);
    }
  };
  add([stem, ...own.keys()].flatMap(synonyms), weights.synonym);
  add(everyday(stem), weights.everyday);
  const rarity = weigh(terms, context);
  const weight = weakWords.has(plain) ? weights.weakWord * rarity : rarity;
  return { plain, weight, terms };
}

/** The word itself, or else what it may be a misspelling of. Words that have synonyms are no misspellings. */
function findOwnTerms(
  plain: string,
  { lexicon, vocabulary: { synonyms, everyday }, weights }: ConceptContext,
): ReadonlyMap<string, number> {
  const stem = toStem(plain);
  // A name in small letters, as in “usechat”, is kept as it is; words are kept by their stems.
  const present = [...new Set([stem, plain])].filter((own) => lexicon.passagesWith(own) > 0);
  if (present.length > 0) return new Map(present.map((own) => [own, 1]));
  if (synonyms(stem).length > 0 || everyday(stem).length > 0) return new Map();
  return new Map(lexicon.corrections(plain).map((term) => [term, weights.correction]));
}

/** The rarity of a concept: of all its words together, each as often as it counts. */
function weigh(
  terms: ReadonlyMap<string, number>,
  { lexicon, weights }: Pick<ConceptContext, 'lexicon' | 'weights'>,
): number {
  let passages = 0;
  for (const [term, factor] of terms) passages += factor * lexicon.passagesWith(term);
  const rarity = Math.log(
    1 + (lexicon.passages + 0.5) / (Math.min(passages, lexicon.passages) + 0.5),
  );
  return rarity ** weights.rarity;
}

/** How far apart in a question two words may be that make a name. */
const pairSpan = 2;

/** Near words are paired in both orders: who asks for the limit of a body may mean `bodyLimit`. */
function findNames(
  plains: readonly string[],
  written: readonly string[],
  { lexicon, weights }: ConceptContext,
): ReadonlyMap<string, number> {
  const few = plains.slice(0, 12);
  const pairs = few.flatMap((a, at) =>
    few.slice(at + 1, at + 1 + pairSpan).flatMap((b) => [a + b, b + a]),
  );
  const found = new Map<string, number>();
  for (const name of [...written, ...pairs]) {
    const passages = lexicon.passagesWith(name);
    if (passages === 0) continue;
    found.set(name, Math.log(1 + (lexicon.passages + 0.5) / (passages + 0.5)) ** weights.rarity);
  }
  return found;
}
