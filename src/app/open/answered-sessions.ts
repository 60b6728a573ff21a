import { openThreadedAnswers } from '../../answers/worker/open-threaded-answers.ts';
import type { AppOptions } from '../options.ts';
import { openConfiguredAnswers, toLogLines } from './answers.ts';
import { openSessions, type SessionsOptions } from './sessions.ts';

/** Session service with its answer engine. Call `start` when the server is listening, to build the search index. */
export type AnsweredSessions = NonNullable<Awaited<ReturnType<typeof openAnsweredSessions>>>;

/** Opens the session service. Returns `null` if sessions are disabled. @throws CorpusError; errors of `openSessions` */
export async function openAnsweredSessions(
  options: Omit<SessionsOptions, 'engine'> & Pick<AppOptions, 'engine'>,
) {
  const { engine, config, clock, logger } = options;
  if (!config.PERCH_SESSIONS) return null;
  if (engine !== undefined) {
    const service = await openSessions({ ...options, engine });
    return { service, engine, start: () => {}, close: () => service.close() };
  }
  const lines = toLogLines(logger, clock);
  const answers = openConfiguredAnswers({ config, clock, open: openThreadedAnswers, ...lines });
  try {
    const service = await openSessions({ ...options, engine: answers.engine });
    const close = () => service.close().finally(() => answers.close());
    return { service, engine: answers.engine, start: answers.keepCurrent, close };
  } catch (error) {
    await answers.close();
    throw error;
  }
}
