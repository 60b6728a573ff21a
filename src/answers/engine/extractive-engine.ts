import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Answer, AnswerEngine, Asking, Citation, Question } from '../answer.ts';
import { type Corpus, keyOf } from '../corpus/corpus.ts';
import type { PassageIndex } from '../index/passage-index.ts';
import { readVocabulary } from '../text/vocabulary.ts';
import { createWordReader, type ReadWords } from '../text/words.ts';
import { composeAbstention, composeAnswer, type Source } from './compose.ts';
import { isDeclined } from './confidence/confidence.ts';
import { weights } from './confidence/weights.ts';
import { toExcerpt } from './excerpt.ts';
import { type Found, type FoundSource, find, toCitedScore } from './find.ts';
import { createPassageSource, type PassageSource } from './given-passages.ts';
import { createPassageStore } from './passage-store.ts';
import { toAsked } from './question/asked.ts';
import { understand } from './question/follow-up.ts';
import { createLexicon } from './question/lexicon.ts';
import { toShownHeading } from './shown-heading.ts';

/** What an engine answers from. */
export interface ExtractiveOptions {
  readonly index: PassageIndex;
  readonly corpora: readonly Corpus[];
  /** False while the index is built for the first time. */
  isReady(): boolean;
}

/** An engine over an index, which tells it when the index has changed. */
export interface ExtractiveEngine extends AnswerEngine {
  /** The passages that it finds, for a language model to answer from. */
  readonly passages: PassageSource;
  /** Says that the index has changed. */
  forget(): void;
}

/** How much is told of the source that answers, and of each further one. */
const limits = {
  leading: { statements: 12, text: 1200, code: 1000 },
  further: { statements: 4, text: 400, code: 200 },
} as const;

/** Answers with what the passages of an index say, word for word. No network, no language model. */
export function createExtractiveEngine(options: ExtractiveOptions): ExtractiveEngine {
  const { index, corpora } = options;
  const lexicon = createLexicon(index);
  const store = createPassageStore(index);
  const vocabulary = readVocabulary();
  const readWords = createWordReader();
  const places = createPlaces(corpora);
  let revision = index.revision;
  const forget = () => {
    revision = index.revision;
    lexicon.forget();
    store.forget();
  };
  const findFor = (question: Question): Found => {
    // What is kept is of one state of the index, whoever has written since.
    if (index.revision !== revision) forget();
    const { text, recentPaths } = understand(
      { ...question, text: toOneLine(question.text) },
      vocabulary,
    );
    const recent = recentPaths.map(places.toPath);
    return find(text, {
      store,
      lexicon,
      vocabulary,
      weights,
      recentPaths: recent,
    });
  };
  return {
    modelId: 'perch/extractive',
    get isReady() {
      return options.isReady();
    },
    passages: createPassageSource({ index, findFor, toCited: places.toCited }),
    forget,
    answer: async (question, asking) => {
      await nextTurn();
      asking.signal.throwIfAborted();
      // All of it from one state of the index: another thread may be writing.
      const written = index.atOnce(() => {
        const found = findFor(question);
        const toSource = (source: FoundSource, kind: keyof typeof limits) =>
          readSource(source, { index, places, readWords, kind, confidence: found.confidence });
        return write(found, toSource);
      });
      return tell(written, asking);
    },
  };
}

/** The characters of a question that are looked at: who pastes a log says first what it is about. */
const maxQuestionLength = 2000;

function toOneLine(text: string): string {
  return text
    .slice(0, 4 * maxQuestionLength)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, maxQuestionLength);
}

type ToSource = (source: FoundSource, kind: keyof typeof limits) => Source;

function write({ leading, further, confidence }: Found, toSource: ToSource): Answer {
  const sources = leading.map((source) => toSource(source, 'leading'));
  const others = further
    .map((source) => toSource(source, 'further'))
    .sort((a, b) => b.citation.score - a.citation.score);
  if (sources.length === 0 || isDeclined(confidence)) {
    return composeAbstention([...sources, ...others].slice(0, 3).map(({ citation }) => citation));
  }
  return composeAnswer({ leading: sources, further: others });
}

interface SourceContext {
  readonly index: PassageIndex;
  readonly places: Places;
  readonly readWords: ReadWords;
  readonly kind: keyof typeof limits;
  readonly confidence: number;
}

function readSource(source: FoundSource, context: SourceContext): Source {
  const { scored, findings } = source;
  const { passage } = scored;
  const { index, places, kind, confidence, readWords } = context;
  const { concepts, names } = findings.concepts;
  const asking = { asked: toAsked(concepts), names, readWords };
  const excerpt = toExcerpt(index.blocks(passage.id), asking, limits[kind]);
  const { line, endLine } = excerpt ?? passage;
  const citation: Citation = {
    path: places.toCited(passage),
    heading: toShownHeading(passage),
    line,
    endLine,
    score: toCitedScore(source, confidence),
  };
  return { citation, excerpt: excerpt ?? { text: passage.heading, line, endLine } };
}

/** Gives out an answer in pieces that a reader can follow, and lets others work between two. */
async function tell(answer: Answer, { signal, onText }: Asking): Promise<Answer> {
  for (const [piece] of answer.text.matchAll(/[\s\S]{1,400}(?:\n|$)|[\s\S]{1,400}/g)) {
    signal.throwIfAborted();
    onText(piece);
    await nextTurn();
  }
  signal.throwIfAborted();
  return answer;
}

interface Places {
  /** The path that is cited: with the name of the corpus before it where there are several. */
  toCited(passage: { readonly corpus: string; readonly path: string }): string;
  /** The path within its corpus. */
  toPath(cited: string): string;
}

function createPlaces(corpora: readonly Corpus[]): Places {
  if (corpora.length < 2) return { toCited: ({ path }) => path, toPath: (cited) => cited };
  const names = new Map(corpora.map((corpus) => [keyOf(corpus), corpus.name]));
  return {
    toCited: ({ corpus, path }) => `${names.get(corpus) ?? 'corpus'}/${path}`,
    toPath: (cited) => cited.slice(cited.indexOf('/') + 1),
  };
}
