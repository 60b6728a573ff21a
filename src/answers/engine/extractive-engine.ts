import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Answer, AnswerEngine, Citation, PassageSource, Question } from '../answer.ts';
import { type Corpus, keyOf } from '../corpus/corpus.ts';
import type { FoundPassage, PassageIndex } from '../index/passage-index.ts';
import { toShownHeading } from '../readers/markdown.ts';
import { readVocabulary } from '../text/vocabulary.ts';
import { toAsked } from './asked.ts';
import { composeAbstention, composeAnswer } from './compose.ts';
import { confidenceModel } from './confidence-model.ts';
import { toExcerpt, toMarkdown } from './excerpt.ts';
import { type Found, type FoundSource, find, toCitedScore } from './find.ts';
import { createLexicon } from './lexicon.ts';
import { createPassageStore } from './passage-store.ts';
import { understand } from './question.ts';

/** Answers from the passages of an index, and provides passages for a language model. */
export interface ExtractiveEngine {
  readonly answer: AnswerEngine['answer'];
  readonly passages: PassageSource;
}

/** Limits of the quotations from the source that answers, and from each further one. */
const limits = {
  leading: { statements: 12, text: 1200, code: 1000 },
  further: { statements: 4, text: 400, code: 200 },
} as const;

/** Maximum number of characters of a question that are read: a pasted log follows what it is about. */
const maxQuestionLength = 2000;

/** Creates an engine that quotes the passages of an index. It uses no network and no language model. */
export function createExtractiveEngine(
  index: PassageIndex,
  corpora: readonly Corpus[],
): ExtractiveEngine {
  const places = createPlaces(corpora);
  const vocabulary = readVocabulary();
  const look = () => ({
    revision: index.revision(),
    lexicon: createLexicon(index),
    store: createPassageStore(index),
  });
  // What is kept of the index is dropped when anyone has written to it.
  let looked = look();
  const findFor = (question: Question): Found => {
    if (index.revision() !== looked.revision) looked = look();
    const start = question.text.slice(0, 4 * maxQuestionLength).replaceAll(/\s+/g, ' ');
    const asked = { ...question, text: start.trim().slice(0, maxQuestionLength) };
    const { text, recentPaths } = understand(asked, vocabulary);
    return find(text, { ...looked, vocabulary, recentPaths: recentPaths.map(places.toPath) });
  };
  return {
    passages: createPassageSource({ index, places, findFor }),
    answer: async (question, { signal, onText }) => {
      await nextTurn();
      signal.throwIfAborted();
      // All of it from one state of the index: another thread may be writing.
      const answer = index.atOnce(() => write(findFor(question), { index, places }));
      // In pieces that a reader can follow, with a turn of the event loop between two.
      for (const [piece] of answer.text.matchAll(/[\s\S]{1,400}(?:\n|$)|[\s\S]{1,400}/g)) {
        signal.throwIfAborted();
        onText(piece);
        await nextTurn();
      }
      signal.throwIfAborted();
      return answer;
    },
  };
}

type SourceContext = Readonly<{ index: PassageIndex; places: ReturnType<typeof createPlaces> }>;

function write({ leading, further, confidence }: Found, { index, places }: SourceContext): Answer {
  const read = (kind: keyof typeof limits) => (source: FoundSource) => {
    const { passage } = source.scored;
    const { concepts, names } = source.findings.concepts;
    const question = { asked: toAsked(concepts), names };
    const excerpt = toExcerpt(index.blocks(passage.id), question, limits[kind]);
    const citation = cite(source, confidence, places);
    if (excerpt === undefined) return { citation, text: passage.heading };
    const { text, line, endLine } = excerpt;
    return { citation: { ...citation, line, endLine }, text };
  };
  const sources = leading.map(read('leading'));
  const others = further.map(read('further')).sort((a, b) => b.citation.score - a.citation.score);
  if (sources.length === 0 || confidence < confidenceModel.threshold) {
    return composeAbstention([...sources, ...others].slice(0, 3).map(({ citation }) => citation));
  }
  return composeAnswer(sources, others);
}

function cite(source: FoundSource, confidence: number, places: SourceContext['places']): Citation {
  const { passage } = source.scored;
  const { line, endLine } = passage;
  const score = toCitedScore(source, confidence);
  return { path: places.toCited(passage), heading: toShownHeading(passage), line, endLine, score };
}

/** Maximum number of passages for a model, and of those considered: some are a heading alone. */
const given = { most: 8, considered: 12 } as const;

/** All that each method returns is from one state of the index: another thread may be writing. */
function createPassageSource({
  index,
  places,
  findFor,
}: SourceContext & { findFor(question: Question): Found }): PassageSource {
  const textOf = (id: number) => toMarkdown(index.blocks(id));
  return {
    find: async (question) =>
      index.atOnce(() => {
        const found = findFor(question);
        const passages = chooseGiven(found).map((source) => {
          const { id, trail, heading } = source.scored.passage;
          return {
            id,
            citation: cite(source, found.confidence, places),
            trail: [...trail, heading].filter((one) => one !== ''),
            text: textOf(id),
          };
        });
        return passages.filter(({ text }) => text !== '').slice(0, given.most);
      }),
    isCurrent: async ({ id, citation, text }) =>
      index.atOnce(() => {
        const now = index.passage(id);
        if (now === undefined || places.toCited(now) !== citation.path) return false;
        const { line, endLine } = citation;
        return now.line === line && now.endLine === endLine && textOf(id) === text;
      }),
  };
}

/** Returns those that an answer would cite, then the next best ones for the question as a whole. */
function chooseGiven({ leading, further }: Found): readonly FoundSource[] {
  const chosen = [...leading, ...further];
  const findings = leading[0]?.findings;
  for (const scored of findings?.scored ?? []) {
    if (findings === undefined || chosen.length >= given.considered) break;
    const isNew = !chosen.some((one) => one.scored.passage.id === scored.passage.id);
    if (isNew) chosen.push({ scored, findings });
  }
  return chosen;
}

/** Converts between cited paths and paths in a corpus. If there are several corpora, a name is put before. */
function createPlaces(corpora: readonly Corpus[]) {
  const names = new Map(corpora.map((corpus) => [keyOf(corpus), corpus.name]));
  const isOne = corpora.length < 2;
  return {
    toCited: ({ corpus, path }: FoundPassage) =>
      isOne ? path : `${names.get(corpus) ?? 'corpus'}/${path}`,
    toPath: (cited: string) => (isOne ? cited : cited.slice(cited.indexOf('/') + 1)),
  };
}
