import type { FastifyBaseLogger } from 'fastify';
import type { AnswerEngine } from '../answers/answer.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import type { PublicHttpOptions } from '../core/http/public-network.ts';
import type { Random } from '../core/random.ts';
import type { Identification } from '../http/key-status/plugin.ts';
import type { LoadGauge } from '../http/operations/load.ts';
import type { Provider } from '../providers/provider.ts';

export interface AppBasics {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: FastifyBaseLogger;
}

/** Options of an app. Tests pass their own clock, random source and providers. */
export interface AppOptions extends AppBasics {
  /** Default: the configured providers. They are closed with the app. */
  readonly providers?: readonly Provider[];
  /** Archive provider that is already open. Default: the app opens one. */
  readonly archive?: Provider;
  /** DNS and connections for the hosts in requests, replaced in tests. Users cannot configure it. */
  readonly network?: PublicHttpOptions;
  /** Default: a gauge of the event-loop delay. It is closed with the server. */
  readonly load?: LoadGauge;
  /** Default: by key and client address. The benchmark passes one that does not identify callers. */
  readonly identification?: Identification;
  readonly engine?: AnswerEngine;
}
