import { join } from 'node:path';
import { corporaAt, ownCorpus } from '../../answers/corpus/corpus.ts';
import { createProgressReports } from '../../answers/index/index-refresher.ts';
import { type AddModelOptions, addModel, type ModelChoice } from '../../answers/llm/add-model.ts';
import type { Answers, AnswersOptions } from '../../answers/open-answers.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { createRepeatedLines } from '../../lib/repeated-lines.ts';

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
