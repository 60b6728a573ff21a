import { posix } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { moveDocExamples } from '../../lib/http/base-url-of-examples.ts';
import { toSlug } from '../../lib/text.ts';
import type { Answer, AnswerEngine, Citation, PassageSource, Question } from '../answer.ts';
import { type Corpus, keyOf } from '../corpus/corpus.ts';
import type { FoundPassage, PassageIndex } from '../index/passage-index.ts';
import { toPlainHeading, toShownHeading } from '../readers/markdown.ts';
import type { Block } from '../readers/section.ts';
import { readVocabulary } from '../text/words.ts';
import { composeAbstention, composeAnswer, markUnsure } from './compose.ts';
import { confidenceModel } from './confidence-model.ts';
import { type CodeQuestion, declaringBlock, isSourceCode } from './definitions.ts';
import { toExcerpt, toMarkdown } from './excerpt.ts';
import { type FoundSource, type FoundSources, findSources, toCitedScore } from './find.ts';
import { resolveFollowUp } from './follow-up.ts';
import { createLexicon } from './lexicon.ts';
import { readMessage } from './message.ts';
import { createPassageStore } from './passage-store.ts';
import { toQuery } from './query.ts';

export interface ExtractiveEngine {
  readonly answer: AnswerEngine['answer'];
  readonly passages: PassageSource;
}

const limits = {
  leading: { sentences: 4, statements: 12, text: 1200, code: 1000 },
  further: { sentences: 3, statements: 4, text: 400, code: 200 },
} as const;

const vague = 0.9;

const maxQuestionLength = 2000;

const maxEarlier = 8;

/** Creates an engine that quotes passages, without network access or a language model. */
export function createExtractiveEngine(
  index: PassageIndex,
  corpora: readonly Corpus[],
): ExtractiveEngine {
  const addresses = createAddresses(corpora);
  const minConfidence = Math.max(
    ...corpora.map((corpus) => corpus.minConfidence ?? confidenceModel.threshold),
  );
  const context = { blocksOf: createBlockReader(index, addresses), addresses, minConfidence };
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
    const words = { lexicon: snapshot.lexicon, vocabulary };
    const { asked, aside } = readMessage(question.text.slice(0, 4 * maxQuestionLength), words);
    const text = asked.slice(0, maxQuestionLength);
    const earlier = question.earlier.slice(-maxEarlier).map((turn) => {
      const start = turn.question.slice(0, maxQuestionLength);
      return { ...turn, question: readMessage(start, words).asked };
    });
    const { topic, cited } = resolveFollowUp({ text, earlier }, aside, vocabulary);
    const recent = cited.map((one) => ({ ...one, path: addresses.toPath(one.path) }));
    return findSources(text, { ...snapshot, vocabulary, topic, recent });
  };
  const answerNext: AnswerEngine['answer'] = async (question, { signal, onText }) => {
    await nextTurn(); // a signal of the caller can arrive between two answers
    signal.throwIfAborted();
    // Reads in one transaction, because another thread may be writing to the index.
    const answer = index.inSnapshot(() => composeFrom(findFor(question), context));
    onText(answer.text);
    signal.throwIfAborted();
    return answer;
  };
  let before: Promise<unknown> = Promise.resolve();
  return {
    passages: createPassageSource({ ...context, index, findFor }),
    // One after another, because the event loop would run all answers that wait in one iteration.
    answer: (question, call) => {
      const answered = before.then(() => answerNext(question, call));
      before = answered.catch(() => {}); // the caller of that answer gets the error
      return answered;
    },
  };
}

type SourceContext = Readonly<{
  blocksOf: ReturnType<typeof createBlockReader>;
  addresses: Addresses;
  minConfidence: number;
}>;

function composeFrom(
  { leading, further, confidence, isElsewhere }: FoundSources,
  { blocksOf, addresses, minConfidence }: SourceContext,
): Answer {
  const read = (kind: keyof typeof limits) => (source: FoundSource) => {
    const { passage } = source.scored;
    const { concepts, repeated, code } = source.findings;
    const followUp = repeated?.id === passage.id ? repeated : undefined;
    const question = { query: toQuery(concepts.concepts), names: concepts.names, followUp };
    const blocks = blocksOf(passage);
    const excerpt = toExcerpt(blocks, question, limits[kind]);
    const citation = cite(source, confidence, addresses);
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
  const isUnsure = confidence < minConfidence;
  if (sources.length === 0 || (isUnsure && isElsewhere)) {
    return composeAbstention([...sources, ...others].slice(0, 3).map(({ citation }) => citation));
  }
  const answer = composeAnswer(sources, others, confidence < vague ? 4 : 2);
  return isUnsure ? markUnsure(answer) : answer;
}

type Excerpt = NonNullable<ReturnType<typeof toExcerpt>>;

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

function cite(source: FoundSource, confidence: number, addresses: Addresses): Citation {
  const { passage } = source.scored;
  const { line, endLine } = passage;
  const heading = toShownHeading(passage);
  const title = toPlainHeading(passage.title);
  const url = addresses.toUrl(passage, heading);
  return {
    path: addresses.toCited(passage),
    heading,
    line,
    endLine,
    score: toCitedScore(source, confidence),
    ...(title === '' ? {} : { title }),
    ...(url === null ? {} : { url }),
  };
}

const promptLimits = {
  max: 16,
  /** Maximum number of candidate passages. Candidates without text are not used. */
  considered: 20,
} as const;

/** Creates a search that reads in transactions, because another thread may write to the index. */
function createPassageSource({
  index,
  blocksOf,
  addresses,
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
            citation: cite(source, found.confidence, addresses),
            trail: [...trail, heading].filter((one) => one !== ''),
            text: toMarkdown(blocksOf(passage)),
          };
        });
        return passages.filter(({ text }) => text !== '').slice(0, promptLimits.max);
      }),
    isCurrent: async ({ id, citation, text }) =>
      index.inSnapshot(() => {
        const now = index.passage(id);
        if (now === undefined || addresses.toCited(now) !== citation.path) return false;
        const { line, endLine } = citation;
        return now.line === line && now.endLine === endLine && toMarkdown(blocksOf(now)) === text;
      }),
  };
}

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

function createBlockReader(index: PassageIndex, { baseUrlOf, resolveLinks }: Addresses) {
  return (passage: FoundPassage): readonly Block[] => {
    const { id, path } = passage;
    const baseUrl = baseUrlOf(passage);
    return index.blocks(id).map((block) => {
      const text = block.kind === 'code' ? block.text : resolveLinks(block.text, passage);
      return {
        ...block,
        text: baseUrl === undefined ? text : moveDocExamples(text, { path, baseUrl }),
      };
    });
  };
}

type Place = Pick<FoundPassage, 'corpus' | 'path'>;

/** Paths, URLs and links of the files in corpora (sets of documents), as answers show them. */
type Addresses = ReturnType<typeof createAddresses>;

export function createAddresses(corpora: readonly Corpus[]) {
  const byKey = new Map(corpora.map((corpus) => [keyOf(corpus), corpus]));
  const isOne = corpora.length < 2;
  const toCited = ({ corpus, path }: Place) =>
    isOne ? path : `${byKey.get(corpus)?.name ?? 'corpus'}/${path}`;
  const baseUrlOf = ({ corpus }: Place) => byKey.get(corpus)?.baseUrl;
  const toPage = (place: Place) => {
    const baseUrl = baseUrlOf(place);
    if (place.path.startsWith('..')) return null;
    return baseUrl === undefined ? toCited(place) : toPageUrl(place.path, baseUrl);
  };
  const resolve = (target: string, place: Place): string | null => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return target;
    if (target.startsWith('/')) return (baseUrlOf(place) ?? '') + target;
    const { path, fragment } = splitTarget(target, place.path);
    const page = toPage({ ...place, path });
    return page && page + fragment;
  };
  return {
    /** Prepends the name of the corpus to the path of a file if there are several corpora. */
    toCited,
    /** Removes the name of the corpus from a cited path. */
    toPath: (cited: string) => (isOne ? cited : cited.slice(cited.indexOf('/') + 1)),
    /** Returns the base URL for the examples in a file; `undefined` if they stay as they are. */
    baseUrlOf,
    /** Returns the URL of a section; `null` if this server has no page with the section. */
    toUrl: (place: Place, heading: string): string | null => {
      const baseUrl = baseUrlOf(place);
      const page = baseUrl === undefined ? null : toPageUrl(place.path, baseUrl);
      return page === null || heading === '' ? page : `${page}#${toSlug(heading)}`;
    },
    /** Resolves relative links to URLs of this server or corpus paths, otherwise to plain text. */
    resolveLinks: (markdown: string, place: Place): string =>
      markdown.replaceAll(codeOrLink, (whole, label?: string, target = '') => {
        if (label === undefined) return whole;
        const resolved = resolve(target, place);
        return resolved === null ? label : `[${label}](${resolved})`;
      }),
  };
}

const codeOrLink = /``[^`]{1,500}``|`[^`]{1,500}`|\[([^[\]]{1,500})\]\(([^()\s]{1,500})\)/g;

function toPageUrl(path: string, baseUrl: string): string | null {
  const [, name] = /^docs\/([\w-]+)\.md$/.exec(path) ?? [];
  return name === undefined ? null : `${baseUrl}/docs/${name}`;
}

function splitTarget(target: string, from: string) {
  const [, file = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(target) ?? [];
  return { path: file === '' ? from : posix.join(posix.dirname(from), file), fragment };
}
