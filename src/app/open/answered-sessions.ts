import type { AnswerEngine } from '../../answers/answer.ts';
import { openThreadedAnswers } from '../../answers/worker/open-threaded-answers.ts';
import type { SessionService } from '../../sessions/service.ts';
import { openConfiguredAnswers, toLogLines } from './answers.ts';
import { openSessions, type SessionsOpening } from './sessions.ts';

export interface AnsweredSessionsOptions extends Omit<SessionsOpening, 'engine'> {
  /** Answers the questions. Default: the configured corpora, in threads of their own. */
  readonly engine?: AnswerEngine;
}

export interface AnsweredSessions {
  readonly service: SessionService;
  readonly engine: AnswerEngine;
  /** Begins to build the index. Call it once the server listens. */
  start(): void;
  close(): Promise<void>;
}

/** Opens the sessions and their answers. Throws `Error` for files in use or unusable, `CorpusError` for a missing corpus. */
export async function openAnsweredSessions(
  options: AnsweredSessionsOptions,
): Promise<AnsweredSessions> {
  const { engine, config, clock, logger } = options;
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
