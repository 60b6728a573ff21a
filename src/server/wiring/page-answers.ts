import type { FastifyRequest } from 'fastify';
import type { Answer, AnswerEngine } from '../../answers/answer.ts';
import type { Config } from '../../config/config.ts';
import type { Client } from '../../lib/caller.ts';
import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import { untilAborted } from '../../lib/scheduling/deadline.ts';
import type { QuestionAnswerer } from '../../routes/pages/ask/ask-plugin.ts';
import type { SessionService } from '../../sessions/service.ts';

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
