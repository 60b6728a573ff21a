import { join } from 'node:path';
import type { FastifyRequest } from 'fastify';
import type { Answer, AnswerEngine } from '../../answers/answer.ts';
import { corporaAt, ownCorpus } from '../../answers/corpus/corpus.ts';
import { createProgressReports } from '../../answers/index/index-refresher.ts';
import { type AddModelOptions, addModel, type ModelChoice } from '../../answers/llm/add-model.ts';
import type { Answers, AnswersOptions } from '../../answers/open-answers.ts';
import type { Config } from '../../config/config.ts';
import type { Client } from '../../lib/caller.ts';
import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import { createRepeatedLines } from '../../lib/repeated-lines.ts';
import { untilAborted } from '../../lib/scheduling/deadline.ts';
import type { QuestionAnswerer } from '../../routes/pages/ask/ask-plugin.ts';
import type { SessionService } from '../../sessions/service.ts';

interface ConfiguredAnswersOptions
  extends Omit<AnswersOptions, 'corpora' | 'path'>,
    Pick<AddModelOptions, 'onFallback'> {
  readonly config: Config;
  /** Function that opens the answer engine, in worker threads or in the calling thread. */
  readonly open: (options: AnswersOptions) => Answers;
}

/** Opens the engine without reading documents yet. Throws CorpusError for a missing path. */
export function openConfiguredAnswers(options: ConfiguredAnswersOptions): Answers {
  const { config, open, ...rest } = options;
  const { PERCH_CORPUS: paths, PERCH_DATA_DIR: folder, PERCH_BASE_URL: baseUrl } = config;
  const corpora = paths.length === 0 ? [{ ...ownCorpus(), baseUrl }] : corporaAt(paths);
  const path = folder === ':memory:' ? folder : join(folder, 'answers.db');
  return addModel(open({ ...rest, corpora, path }), { ...rest, model: toModelChoice(config) });
}

const modelShare = 0.75;

export function toModelChoice(config: Config): ModelChoice | undefined {
  const { PERCH_MODEL_URL: url, PERCH_MODEL: model } = config;
  if (url === undefined || model === undefined) return undefined;
  return {
    url,
    model,
    key: config.PERCH_MODEL_KEY,
    stallMs: config.PERCH_MODEL_STALL_SECONDS * 1000,
    totalMs: config.PERCH_SESSION_TURN_SECONDS * 1000 * modelShare,
    maxCharacters: config.PERCH_MODEL_CONTEXT_CHARACTERS,
    reranks: config.PERCH_MODEL_RERANK,
    connectTimeoutMs: config.PERCH_CONNECT_TIMEOUT_MS,
    userAgent: config.PERCH_USER_AGENT,
  };
}

type AnswersLog = Readonly<
  Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>
>;

/** Minimum milliseconds between two log lines about the progress of the search index. */
const progressMs = 2000;

/** Creates callbacks that log index updates and (`onFallback`) failures of the language model. */
export function toLogLines(
  log: AnswersLog,
  clock: Clock,
): Pick<AnswersOptions, 'onProgress' | 'onRefreshed' | 'onError'> &
  Pick<AddModelOptions, 'onFallback'> {
  const repeated = createRepeatedLines(clock);
  const reports = createProgressReports({
    clock,
    quietMs: progressMs,
    everyMs: progressMs,
    onReport: ({ files, read }) => log.info({ files, read }, 'building the index for answers'),
  });
  return {
    onProgress: reports.report,
    onRefreshed: (summary) => {
      reports.end();
      if (summary.read + summary.removed === 0) return;
      log.info({ ...summary }, 'the index for answers is up to date');
    },
    onError: (err) =>
      repeated('index', (count) =>
        log.error({ err, ...count }, 'the index for answers could not be updated'),
      ),
    onFallback: ({ code, message }) =>
      repeated(code, (count) =>
        log.warn(
          { code, reason: message, ...count },
          'a question was answered without the language model',
        ),
      ),
  };
}

interface PageAnswersOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly service: Pick<
    SessionService,
    'refuseUnlessReady' | 'toClient' | 'rates' | 'runInTurnSlot'
  >;
  readonly engine: AnswerEngine;
  readonly clientOf: (request: FastifyRequest) => string;
}

/** Timeout of an answer in milliseconds; a model adds `PERCH_MODEL_STALL_SECONDS`. */
const answerTimeoutMs = 15_000;

/** Creates the answerer of `/docs/ask`, which shares rate limit and queue with sessions. */
export function createPageAnswers(options: PageAnswersOptions): QuestionAnswerer {
  const { config, service, clientOf } = options;
  return {
    sessionBase: `/${config.PERCH_SESSION_PREFIX}/v1`,
    isAboutPages: config.PERCH_CORPUS.length === 0,
    keepsDeclined: config.PERCH_KEEP_DECLINED_QUESTIONS > 0,
    answer: async (question, request) => {
      service.refuseUnlessReady();
      const client = service.toClient(clientOf(request));
      await service.rates.spendStart(null, client);
      return answerInTime({ question, client, closed: request.signal }, options);
    },
  };
}

type PageQuestion = Readonly<{ question: string; client: Client; closed: AbortSignal }>;

/** Returns an answer. Cancels it on a disconnect. Throws Problem `overloaded` after the timeout. */
async function answerInTime(
  { question: text, client, closed }: PageQuestion,
  { engine, clock, config, service }: PageAnswersOptions,
): Promise<Answer> {
  // Adds the stall timeout, so that time for an answer without the language model remains after the
  // model has stalled.
  const stallSeconds = config.PERCH_MODEL_URL === undefined ? 0 : config.PERCH_MODEL_STALL_SECONDS;
  const waitMs = answerTimeoutMs + stallSeconds * 1000;
  const detail = `The question could not be answered in ${waitMs / 1000} seconds.`;
  const done = new AbortController();
  const timeout = new AbortController();
  clock.sleep(waitMs, done.signal).then(
    () => timeout.abort(new Problem('overloaded', { detail })),
    () => undefined, // answered in time
  );
  const signal = AbortSignal.any([closed, timeout.signal]);
  const turn = { signal, onText: () => undefined };
  const run = () => untilAborted(engine.answer({ text, earlier: [] }, turn), signal);
  try {
    return await service.runInTurnSlot({ client, signal, run });
  } finally {
    done.abort();
  }
}
