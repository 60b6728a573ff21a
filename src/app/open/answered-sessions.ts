import { openThreadedAnswers } from '../../answers/worker/open-threaded-answers.ts';
import type { AppOptions } from '../options.ts';
import { openConfiguredAnswers, toLogLines } from './answers.ts';
import { openSessions, type SessionsOptions } from './sessions.ts';

/** The sessions and the engine that answers them. Call `start` to build its index once the server listens. */
export type AnsweredSessions = NonNullable<Awaited<ReturnType<typeof openAnsweredSessions>>>;

/**
 * Opens the sessions with an engine, by default that of the configured corpora in threads of its own;
 * returns `null` if no sessions are served. Throws CorpusError, and what `openSessions` throws.
 */
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
