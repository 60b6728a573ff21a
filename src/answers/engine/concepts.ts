import type { Phrase, Vocabulary } from '../text/vocabulary.ts';
import { toStem, toWords } from '../text/words.ts';
import type { Lexicon } from './lexicon.ts';
import { weights } from './weights.ts';

/** Something that a question asks for, with all words that may stand for it. */
export interface Concept {
  /** How much it matters; rare words matter more. */
  readonly weight: number;
  /** The terms that it is looked up by, and how much each counts; 1 for the word itself. */
  readonly terms: ReadonlyMap<string, number>;
}

/** The concepts of a question, and the names in one piece that its words make: “body limit” makes `bodylimit`. */
export interface Concepts {
  readonly concepts: readonly Concept[];
  readonly names: ReadonlyMap<string, number>;
}

interface ConceptContext {
  readonly lexicon: Lexicon;
  readonly vocabulary: Vocabulary;
}

/** Maximum number of words of a question that are looked up; the first ones say what it is about. */
const maxConcepts = 24;

/** Returns the concepts of a question. */
export function toConcepts(text: string, context: ConceptContext): Concepts {
  const { stopWords, takePhrases } = context.vocabulary;
  const { rest, found } = takePhrases(text.replaceAll(frame, ' … '));
  const { words, names } = toWords(rest);
  const telling = words.filter(({ plain }) => !stopWords.has(plain));
  const distinct = [...new Map(telling.map((word) => [word.stem, word])).values()];
  const plains = distinct.slice(0, maxConcepts).map(({ plain }) => plain);
  const written = [...new Set(names)]
    .slice(0, maxConcepts)
    .filter((name) => context.lexicon.passagesWith(name) > 0);
  return {
    concepts: [
      ...plains.map((plain) => toConcept(plain, context)),
      ...written.map((name) => toNameConcept(name, context)),
      ...found.map((phrase) => toPhraseConcept(phrase, context)),
    ],
    names: findNames(plains, [...names.slice(0, maxConcepts), ...neighbours(text)], context),
  };
}

/** Words that only ask for a place. */
const frame =
  /\b(?:(?:in )?(?:which|what) (?:file|module|class|function|page|section|document|part of the docs)s?\b(?= (?:defin|declar|export|implement|contain|document|describ|explain|cover|is|are|has))|(?:is|are|gets?) (?:defined|declared|implemented|documented|explained|described)\b|(?:that |which )?(?:defines|declares|exports|implements|documents|describes|explains|covers)\b)/gi;

/** A name that the question writes as code does: nothing else is meant. */
function toNameConcept(name: string, { lexicon }: ConceptContext): Concept {
  const terms = new Map([[name, 1]]);
  return { weight: weigh(terms, lexicon), terms };
}

/** Adjacent words, in one piece: “log in” may be `login`, “body limit” `bodyLimit`. */
function neighbours(text: string): readonly string[] {
  const plains = toWords(text).words.map(({ plain }) => plain);
  return plains.slice(1, maxConcepts).map((plain, at) => `${plains[at]}${plain}`);
}

function toPhraseConcept({ meanings }: Phrase, { lexicon }: ConceptContext): Concept {
  const known = meanings.map(toStem).filter((term) => lexicon.passagesWith(term) > 0);
  const terms = new Map(known.map((term) => [term, weights.phrase]));
  return { weight: weights.phraseWeight * weigh(terms, lexicon), terms };
}

function toConcept(plain: string, context: ConceptContext): Concept {
  const { lexicon, vocabulary } = context;
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
  const rarity = weigh(terms, lexicon);
  const weight = weakWords.has(plain) ? weights.weakWord * rarity : rarity;
  return { weight, terms };
}

/** The word itself, or else what it may be a misspelling of. Words that have synonyms are no misspellings. */
function findOwnTerms(
  plain: string,
  { lexicon, vocabulary: { synonyms, everyday } }: ConceptContext,
): ReadonlyMap<string, number> {
  const stem = toStem(plain);
  // A name in small letters, as in “usechat”, is kept as it is; words are kept by their stems.
  const present = [...new Set([stem, plain])].filter((own) => lexicon.passagesWith(own) > 0);
  if (present.length > 0) return new Map(present.map((own) => [own, 1]));
  if (synonyms(stem).length > 0 || everyday(stem).length > 0) return new Map();
  return new Map(lexicon.corrections(plain).map((term) => [term, weights.correction]));
}

/** Returns the rarity of a concept: of all its terms together, each as often as it counts. */
function weigh(terms: ReadonlyMap<string, number>, lexicon: Lexicon): number {
  let passages = 0;
  for (const [term, factor] of terms) passages += factor * lexicon.passagesWith(term);
  const most = lexicon.passages;
  return Math.log(1 + (most + 0.5) / (Math.min(passages, most) + 0.5)) ** weights.rarity;
}

/** How far apart in a question two words may be that make a name. */
const pairSpan = 2;

/** Near words are paired in both orders: “the limit of a body” may mean `bodyLimit`. */
function findNames(
  plains: readonly string[],
  written: readonly string[],
  { lexicon }: ConceptContext,
): ReadonlyMap<string, number> {
  const few = plains.slice(0, 12);
  const pairs = few.flatMap((a, at) =>
    few.slice(at + 1, at + 1 + pairSpan).flatMap((b) => [a + b, b + a]),
  );
  const known = [...written, ...pairs].filter((name) => lexicon.passagesWith(name) > 0);
  return new Map(known.map((name) => [name, weigh(new Map([[name, 1]]), lexicon)]));
}
