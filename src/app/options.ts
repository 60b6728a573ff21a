import type { FastifyBaseLogger } from 'fastify';
import type { AnswerEngine } from '../answers/answer.ts';
import type { Config } from '../config/config.ts';
import type { Settings } from '../config/sources.ts';
import type { Clock } from '../core/clock.ts';
import type { PublicHttpOptions } from '../core/http/public-network.ts';
import type { Random } from '../core/random.ts';
import type { Tracing } from '../core/tracing/tracing.ts';
import type { Identification } from '../http/key-status/plugin.ts';
import type { LoadGauge } from '../http/operations/load.ts';
import type { Provider } from '../providers/provider.ts';

export interface AppBasics {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: FastifyBaseLogger;
  /** Clock for connections to Valkey or Redis. Default: `clock`. Tests with a fake `clock` pass the real one. */
  readonly engineClock?: Clock;
}

/** Options of the server. Tests pass their own clock, random source and providers. */
export interface AppOptions extends AppBasics {
  /** Providers (sources of posts). Default: the configured providers. Closing the server closes the providers. */
  readonly providers?: readonly Provider[];
  /** Already opened provider of imported archives. Default: the server opens the provider itself. */
  readonly archive?: Provider;
  /** DNS lookup and connections for hosts that appear in requests. Tests replace this option; users cannot set it. */
  readonly network?: PublicHttpOptions;
  /** Gauge of the server's load. Default: a gauge of the event-loop delay. Closing the server closes the gauge. */
  readonly load?: LoadGauge;
  /** Identification of callers. Default: by API key and client address. The benchmark passes a faster substitute. */
  readonly identification?: Identification;
  readonly engine?: AnswerEngine;
  /** Source of spans; `null` turns tracing off. Default: the OpenTelemetry SDK that was loaded before Perch, if any. */
  readonly tracing?: Tracing | null;
  /** Settings that are set, with their sources, for the dashboard. Default: none. */
  readonly settings?: Settings;
  /** Warnings about the settings, for the dashboard. Default: none. */
  readonly startWarnings?: readonly string[];
}
