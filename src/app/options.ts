import type { FastifyBaseLogger } from 'fastify';
import type { AnswerEngine } from '../answers/answer.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import type { Random } from '../core/random.ts';
import type { Identification } from '../http/key-status/plugin.ts';
import type { LoadGauge } from '../http/operations/load.ts';
import type { FetchingOverrides } from './open/fetching.ts';

/** What an app is built of. Tests hand in their own clock, chance and providers. */
export interface AppOptions extends FetchingOverrides {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: FastifyBaseLogger;
  /** Default: the delay of the event loop. Closed with the server. */
  readonly load?: LoadGauge;
  /** Default: by keys and client addresses. The bench compares with nobody's identity. */
  readonly identification?: Identification;
  /** Answers the questions of sessions. Default: the configured corpora. */
  readonly engine?: AnswerEngine;
}
