import { createIndexRecord, type IndexRecord } from '../../answers/index/index-record.ts';
import { createQuestionRecord } from '../../answers/question-record.ts';
import { openThreadedAnswers } from '../../answers/worker/open-threaded-answers.ts';
import type { AppOptions } from '../options.ts';
import { openConfiguredAnswers, toLogLines } from './answers.ts';
import { openSessions, type SessionsOptions } from './sessions.ts';

/** Session service with its answer engine. Call `start` when the server is listening. */
export type AnsweredSessions = NonNullable<Awaited<ReturnType<typeof openAnsweredSessions>>>;

/** Opens the service; `null` if sessions are off. Throws CorpusError if documents are missing. */
export async function openAnsweredSessions(
  options: Omit<SessionsOptions, 'engine'> & Pick<AppOptions, 'engine'>,
) {
  const { engine, config, clock, logger } = options;
  if (!config.PERCH_SESSIONS) return null;
  const questions = createQuestionRecord({ clock, keep: config.PERCH_KEEP_DECLINED_QUESTIONS });
  if (engine !== undefined) {
    const watched = questions.watch(engine);
    const service = await openSessions({ ...options, engine: watched });
    const records = { questions, index: null };
    return { service, engine: watched, records, start: () => {}, close: () => service.close() };
  }
  const index = createIndexRecord(clock);
  const lines = recordIndex(toLogLines(logger, clock), index);
  const answers = openConfiguredAnswers({ config, clock, open: openThreadedAnswers, ...lines });
  const watched = questions.watch(answers.engine);
  const records = { questions, index };
  try {
    const service = await openSessions({ ...options, engine: watched });
    const close = () => service.close().finally(() => answers.close());
    return { service, engine: watched, records, start: answers.keepCurrent, close };
  } catch (error) {
    await answers.close();
    throw error;
  }
}

function recordIndex(lines: ReturnType<typeof toLogLines>, record: IndexRecord): typeof lines {
  return {
    ...lines,
    onProgress: (progress) => {
      record.onProgress(progress);
      lines.onProgress?.(progress);
    },
    onRefreshed: (summary) => {
      record.onRefreshed(summary);
      lines.onRefreshed?.(summary);
    },
    onError: (error) => {
      record.onError(error);
      lines.onError?.(error);
    },
  };
}
