import type { FastifyRequest } from 'fastify';
import type { Answer, AnswerEngine } from '../../answers/answer.ts';
import type { Config } from '../../config/config.ts';
import type { Client } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import type { Asking } from '../../http/pages/ask/ask-plugin.ts';
import type { SessionService } from '../../sessions/service.ts';

interface AskingOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly service: SessionService;
  readonly engine: AnswerEngine;
  /** Returns the name of a request's client address. */
  readonly clientOf: (request: FastifyRequest) => string;
}

/** Maximum number of milliseconds that a page waits for the index: a browser shows nothing until then. */
const patienceMs = 15_000;

/**
 * Creates what answers the questions of pages. Each counts as the start of a session, and waits for its
 * place among the turns of sessions.
 */
export function createAsking(options: AskingOptions): Asking {
  const { config, service, clientOf } = options;
  return {
    sessionBase: `/${config.PERCH_SESSION_PREFIX}/v1`,
    isAboutPages: config.PERCH_CORPUS.length === 0,
    answer: async (question, request) => {
      service.refuseUnlessReady();
      const client = service.toClient(clientOf(request));
      service.rates.spendStart(null, client);
      return answerInTime({ question, client, left: request.signal }, options);
    },
  };
}

interface PageQuestion {
  readonly question: string;
  readonly client: Client;
  readonly left: AbortSignal;
}

/** Once the page is closed, or patience is over, the engine stops. */
async function answerInTime(
  { question: text, client, left }: PageQuestion,
  { engine, clock, config, service }: AskingOptions,
): Promise<Answer> {
  // A language model that stalls is given up first, so that there is time for an answer without it.
  const modelMs =
    config.PERCH_MODEL_URL === undefined ? 0 : config.PERCH_MODEL_STALL_SECONDS * 1000;
  const waitMs = patienceMs + modelMs;
  const detail = `The question could not be answered in ${waitMs / 1000} seconds.`;
  const over = new AbortController();
  const late = new AbortController();
  clock.sleep(waitMs, over.signal).then(
    () => late.abort(new Problem('overloaded', { detail })),
    () => undefined, // it was answered
  );
  const signal = AbortSignal.any([left, late.signal]);
  const asking = { signal, onText: () => undefined };
  const run = () =>
    Promise.race([engine.answer({ text, earlier: [] }, asking), whenAborted(signal)]);
  try {
    return await service.runInTurnSlot({ client, signal, run });
  } finally {
    over.abort();
  }
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
