import type { FastifyBaseLogger } from 'fastify';
import type { AnswerEngine } from '../answers/answer.ts';
import type { Config } from '../config/config.ts';
import type { Settings } from '../config/sources.ts';
import type { Clock } from '../lib/clock.ts';
import type { PublicHttpOptions } from '../lib/http/public-network.ts';
import type { Random } from '../lib/random.ts';
import type { Engine } from '../lib/redis/engine.ts';
import type { Tracing } from '../lib/tracing/tracing.ts';
import type { Provider } from '../providers/provider.ts';
import type { Identification } from '../routes/key-status/plugin.ts';
import type { LoadGauge } from '../routes/monitoring/load.ts';

/** Values that every part of the server needs, made once at the start. */
export interface AppContext {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: FastifyBaseLogger;
  /** Clock for the connections to Redis. Default: `clock`. Tests that fake it pass a real one. */
  readonly engineClock?: Clock;
  /** Source of spans; `null` if tracing is off. */
  readonly tracing: Tracing | null;
  /** Valkey or Redis server that several instances share; `null` if there is one instance. */
  readonly redis: Engine | null;
}

export interface AppOptions extends Omit<AppContext, 'tracing' | 'redis'> {
  /** Sources of posts. Default: the configured ones. Closing the server closes them. */
  readonly providers?: readonly Provider[];
  /** Archive opened by the caller. Default: the server opens the one in `PERCH_DATA_DIR`. */
  readonly archive?: Provider;
  /** DNS and connections to hosts that callers name, such as Mastodon servers; set by tests. */
  readonly network?: PublicHttpOptions;
  /** Gauge of load, which closes with the server. Default: a gauge of the event-loop delay. */
  readonly load?: LoadGauge;
  /** Identification of callers. Default: by key and address. The benchmark's is faster. */
  readonly identification?: Identification;
  readonly engine?: AnswerEngine;
  /** Source of spans; `null` turns it off. Default: an OpenTelemetry SDK loaded before Perch. */
  readonly tracing?: Tracing | null;
  /** Configured settings with their sources, which the dashboard shows. Default: no settings. */
  readonly settings?: Settings;
  /** Warnings about the settings, which the dashboard shows. Default: no warnings. */
  readonly startWarnings?: readonly string[];
}
