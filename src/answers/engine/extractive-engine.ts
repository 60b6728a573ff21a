import { setImmediate as nextTurn } from 'node:timers/promises';
import { moveDocExamples } from '../../core/http/base-url-of-examples.ts';
import type { Answer, AnswerEngine, Citation, PassageSource, Question } from '../answer.ts';
import { type Corpus, keyOf } from '../corpus/corpus.ts';
import type { FoundPassage, PassageIndex } from '../index/passage-index.ts';
import { toShownHeading } from '../readers/markdown.ts';
import type { Block } from '../readers/section.ts';
import { readVocabulary } from '../text/vocabulary.ts';
import { composeAbstention, composeAnswer } from './compose.ts';
import { confidenceModel } from './confidence-model.ts';
import { type CodeQuestion, declaringBlock, isSourceCode } from './definitions.ts';
import { toExcerpt, toMarkdown } from './excerpt.ts';
import { type FoundSource, type FoundSources, findSources, toCitedScore } from './find.ts';
import { createLexicon } from './lexicon.ts';
import { createPassageStore } from './passage-store.ts';
import { toQuery } from './query.ts';
import { resolveFollowUp } from './question.ts';

/** Engine that answers with quotations from an index, and finds passages for a language model. */
export interface ExtractiveEngine {
  readonly answer: AnswerEngine['answer'];
  readonly passages: PassageSource;
}

/**
 * Maximum size of a quotation, in sentences, statements and characters. `leading`: from the best source for each part
 * of the question. `further`: from each other source.
 */
const limits = {
  leading: { sentences: 4, statements: 12, text: 1200, code: 1000 },
  further: { sentences: 3, statements: 4, text: 400, code: 200 },
} as const;

/** Confidence (0 to 1) below which an answer quotes up to four additional sources instead of two. */
const vague = 0.9;

/** Maximum number of characters of a question that the search uses. Text beyond this limit is usually a pasted log. */
const maxQuestionLength = 2000;

/** Creates an engine that quotes passages of an index, without network access or a language model. */
export function createExtractiveEngine(
  index: PassageIndex,
  corpora: readonly Corpus[],
): ExtractiveEngine {
  const paths = createPathConverter(corpora);
  const minConfidence = Math.max(
    ...corpora.map((corpus) => corpus.minConfidence ?? confidenceModel.threshold),
  );
  const context = { blocksOf: createBlockReader(index, corpora), paths, minConfidence };
  const vocabulary = readVocabulary();
  const readSnapshot = () => ({
    revision: index.revision(),
    lexicon: createLexicon(index),
    store: createPassageStore(index),
  });
  // Cached data is discarded when any connection has written to the index.
  let snapshot = readSnapshot();
  const findFor = (question: Question): FoundSources => {
    if (index.revision() !== snapshot.revision) snapshot = readSnapshot();
    const start = question.text.slice(0, 4 * maxQuestionLength).replaceAll(/\s+/g, ' ');
    const trimmed = { ...question, text: start.trim().slice(0, maxQuestionLength) };
    const { topic, cited } = resolveFollowUp(trimmed, vocabulary);
    const recent = cited.map((one) => ({ ...one, path: paths.toPath(one.path) }));
    return findSources(trimmed.text, { ...snapshot, vocabulary, topic, recent });
  };
  return {
    passages: createPassageSource({ ...context, index, findFor }),
    answer: async (question, { signal, onText }) => {
      await nextTurn();
      signal.throwIfAborted();
      // Reads in one transaction, because another thread may be writing to the index.
      const answer = index.inSnapshot(() => composeFrom(findFor(question), context));
      // Sends small parts, so that readers see progress and the event loop can run in between.
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

type SourceContext = Readonly<{
  blocksOf: ReturnType<typeof createBlockReader>;
  paths: ReturnType<typeof createPathConverter>;
  minConfidence: number;
}>;

function composeFrom(
  { leading, further, confidence }: FoundSources,
  { blocksOf, paths, minConfidence }: SourceContext,
): Answer {
  const read = (kind: keyof typeof limits) => (source: FoundSource) => {
    const { passage } = source.scored;
    const { concepts, repeated, code } = source.findings;
    const followUp = repeated?.id === passage.id ? repeated : undefined;
    const question = { query: toQuery(concepts.concepts), names: concepts.names, followUp };
    const blocks = blocksOf(passage);
    const excerpt = toExcerpt(blocks, question, limits[kind]);
    const citation = cite(source, confidence, paths);
    const whole = excerpt ?? {
      text: passage.heading,
      line: passage.line,
      endLine: passage.endLine,
    };
    const isPlace =
      kind === 'leading' && (source.scored.features.defines > 0 || isSourceCode(passage.path));
    const excerptOf = (some: readonly Block[]) => toExcerpt(some, question, limits[kind]);
    const { text, ...lines } =
      code.asksPlace && isPlace
        ? showPlace({ whole, blocks, code, excerptOf }, citation.path)
        : whole;
    return { citation: { ...citation, ...lines }, text };
  };
  const sources = leading.map(read('leading'));
  const others = further.map(read('further')).sort((a, b) => b.citation.score - a.citation.score);
  if (sources.length === 0 || confidence < minConfidence) {
    return composeAbstention([...sources, ...others].slice(0, 3).map(({ citation }) => citation));
  }
  return composeAnswer(sources, others, confidence < vague ? 4 : 2);
}

type Excerpt = NonNullable<ReturnType<typeof toExcerpt>>;

/** Returns an excerpt that begins with the place of a declaration, and continues with its code and its comment. */
function showPlace(
  {
    whole,
    blocks,
    code,
    excerptOf,
  }: {
    readonly whole: Excerpt;
    readonly blocks: readonly Block[];
    readonly code: CodeQuestion;
    excerptOf(blocks: readonly Block[]): Excerpt | undefined;
  },
  path: string,
): Excerpt {
  const declared = declaringBlock(blocks, code);
  const { line } = declared ?? whole;
  const shown = declared === undefined ? whole : (excerptOf([declared.block]) ?? whole);
  const about =
    declared === undefined ? undefined : excerptOf(blocks.filter(({ kind }) => kind !== 'code'));
  const texts = [`\`${path}:${line}\``, shown.text, about?.text ?? ''];
  return { text: texts.filter((text) => text !== '').join('\n\n'), line, endLine: shown.endLine };
}

function cite(source: FoundSource, confidence: number, paths: SourceContext['paths']): Citation {
  const { passage } = source.scored;
  const { line, endLine } = passage;
  const score = toCitedScore(source, confidence);
  return { path: paths.toCited(passage), heading: toShownHeading(passage), line, endLine, score };
}

const promptLimits = {
  /** Maximum number of passages in a prompt. */
  max: 8,
  /** Maximum number of candidate passages for a prompt. Candidates without text are not used. */
  considered: 12,
} as const;

/**
 * Creates the passage search for language models. The search reads in transactions, because another
 * thread may be writing to the index.
 */
function createPassageSource({
  index,
  blocksOf,
  paths,
  findFor,
}: SourceContext & {
  readonly index: PassageIndex;
  findFor(question: Question): FoundSources;
}): PassageSource {
  return {
    find: async (question) =>
      index.inSnapshot(() => {
        const found = findFor(question);
        const passages = choosePassages(found).map((source) => {
          const { passage } = source.scored;
          const { id, trail, heading } = passage;
          return {
            id,
            citation: cite(source, found.confidence, paths),
            trail: [...trail, heading].filter((one) => one !== ''),
            text: toMarkdown(blocksOf(passage)),
          };
        });
        return passages.filter(({ text }) => text !== '').slice(0, promptLimits.max);
      }),
    isCurrent: async ({ id, citation, text }) =>
      index.inSnapshot(() => {
        const now = index.passage(id);
        if (now === undefined || paths.toCited(now) !== citation.path) return false;
        const { line, endLine } = citation;
        return now.line === line && now.endLine === endLine && toMarkdown(blocksOf(now)) === text;
      }),
  };
}

/**
 * Returns the sources for a language model: first those that an answer without a model can cite, then the next best
 * passages for the question or, if it has several parts, for its first part.
 */
function choosePassages({ leading, further }: FoundSources): readonly FoundSource[] {
  const chosen = [...leading, ...further];
  const findings = leading[0]?.findings;
  for (const scored of findings?.scored ?? []) {
    if (findings === undefined || chosen.length >= promptLimits.considered) break;
    const isNew = !chosen.some((one) => one.scored.passage.id === scored.passage.id);
    if (isNew) chosen.push({ scored, findings });
  }
  return chosen;
}

/**
 * Creates functions that add the name of the corpus to a cited path or remove it. If there is only
 * one corpus, they return the path unchanged.
 */
function createPathConverter(corpora: readonly Corpus[]) {
  const names = new Map(corpora.map((corpus) => [keyOf(corpus), corpus.name]));
  const isOne = corpora.length < 2;
  return {
    toCited: ({ corpus, path }: FoundPassage) =>
      isOne ? path : `${names.get(corpus) ?? 'corpus'}/${path}`,
    toPath: (cited: string) => (isOne ? cited : cited.slice(cited.indexOf('/') + 1)),
  };
}

/**
 * Creates a function that returns the blocks of a passage. If the corpus of the passage has a base URL, the examples in
 * the blocks have that base URL.
 */
function createBlockReader(index: PassageIndex, corpora: readonly Corpus[]) {
  const baseUrls = new Map(corpora.map((corpus) => [keyOf(corpus), corpus.baseUrl]));
  return ({ id, corpus, path }: FoundPassage): readonly Block[] => {
    const blocks = index.blocks(id);
    const baseUrl = baseUrls.get(corpus);
    if (baseUrl === undefined) return blocks;
    return blocks.map((block) => ({
      ...block,
      text: moveDocExamples(block.text, { path, baseUrl }),
    }));
  };
}
