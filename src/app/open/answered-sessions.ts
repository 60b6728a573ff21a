import type { AnswerEngine } from '../../answers/answer.ts';
import { openThreadedAnswers } from '../../answers/worker/open-threaded-answers.ts';
import type { SessionService } from '../../sessions/service.ts';
import type { AppOptions } from '../options.ts';
import { openConfiguredAnswers, toLogLines } from './answers.ts';
import { openSessions, type SessionsOptions } from './sessions.ts';

/** The sessions and the engine that answers them. */
export interface AnsweredSessions {
  readonly service: SessionService;
  readonly engine: AnswerEngine;
  /** Begins to build the index. Call it once the server listens. */
  start(): void;
  /** Closes the sessions, then the engine. */
  close(): Promise<void>;
}

/**
 * Opens the sessions with an engine, by default that of the configured corpora in threads of its own;
 * returns `null` if no sessions are served.
 *
 * @throws Error where their files cannot be used, or another process serves the sessions of the folder;
 *   CorpusError for a corpus that is not there
 */
export async function openAnsweredSessions(
  options: Omit<SessionsOptions, 'engine'> & Pick<AppOptions, 'engine'>,
): Promise<AnsweredSessions | null> {
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
