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
  /** Providers to read from. Default: the configured providers. Closing the app closes the providers. */
  readonly providers?: readonly Provider[];
  /** Archive provider that is already open. Default: the app opens one. */
  readonly archive?: Provider;
  /** DNS and connections for hosts that requests name. Tests replace them; users cannot configure them. */
  readonly network?: PublicHttpOptions;
  /** Gauge of the server's load. Default: a gauge of the event-loop delay. Closing the server closes the gauge. */
  readonly load?: LoadGauge;
  /** Identifies callers. Default: by API key and client address. The benchmark replaces this to skip identification. */
  readonly identification?: Identification;
  readonly engine?: AnswerEngine;
}
