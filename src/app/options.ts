import type { FastifyBaseLogger } from 'fastify';
import type { AnswerEngine } from '../answers/answer.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../core/clock.ts';
import type { PublicHttpOptions } from '../core/http/public-network.ts';
import type { Random } from '../core/random.ts';
import type { Identification } from '../http/key-status/plugin.ts';
import type { LoadGauge } from '../http/operations/load.ts';
import type { Provider } from '../providers/provider.ts';

/** The options that every part of an app needs. */
export interface AppBasics {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: FastifyBaseLogger;
}

/** The options of an app. Tests pass their own clock, chance and providers. */
export interface AppOptions extends AppBasics {
  /** Default: those that the configuration names. They are closed with the rest. */
  readonly providers?: readonly Provider[];
  /** An archive that is open already, in place of one that is opened here. */
  readonly archive?: Provider;
  /** The network behind the hosts that requests name. No setting leads here. */
  readonly network?: PublicHttpOptions;
  /** Default: the delay of the event loop. Closed with the server. */
  readonly load?: LoadGauge;
  /** Default: by keys and client addresses. The bench compares with nobody's identity. */
  readonly identification?: Identification;
  readonly engine?: AnswerEngine;
}
