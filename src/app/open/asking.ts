import type { FastifyRequest } from 'fastify';
import type { Answer, AnswerEngine } from '../../answers/answer.ts';
import type { Config } from '../../config/config.ts';
import type { Client } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import type { Asking } from '../../http/pages/ask/ask-plugin.ts';
import type { SessionService } from '../../sessions/service.ts';

export interface AskingOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly service: SessionService;
  readonly engine: AnswerEngine;
  readonly clientOf: (request: FastifyRequest) => string;
}

/** The most milliseconds that a page waits for the index: a browser shows nothing until then. */
const patienceMs = 15_000;

/** A language model that stalls is given up first, so that there is time for an answer without it. */
function patienceOf({ PERCH_MODEL_URL, PERCH_MODEL_STALL_SECONDS }: Config): number {
  return patienceMs + (PERCH_MODEL_URL === undefined ? 0 : PERCH_MODEL_STALL_SECONDS * 1000);
}

/** Creates the answers to questions of pages. Each is charged as a session start and waits among the turns. */
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
  const over = new AbortController();
  const late = new AbortController();
  const waitMs = patienceOf(config);
  clock.sleep(waitMs, over.signal).then(
    () => late.abort(tooLate(waitMs)),
    () => undefined, // it was answered
  );
  const signal = AbortSignal.any([left, late.signal]);
  const asking = { signal, onText: () => undefined };
  const run = () =>
    Promise.race([engine.answer({ text, earlier: [] }, asking), whenAborted(signal)]);
  try {
    return await service.runBesideTurns({ client, signal, run });
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

function tooLate(waitMs: number): Problem {
  const detail = `The question could not be answered in ${waitMs / 1000} seconds.`;
  return new Problem('overloaded', { detail });
}
