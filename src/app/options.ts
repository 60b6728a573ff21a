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
  /** Clock for connections to Valkey or Redis. Default: `clock`. Tests with a fake `clock` pass the real clock here. */
  readonly engineClock?: Clock;
}

/** Options of the server. Tests pass their own clock, random source and providers. */
export interface AppOptions extends AppBasics {
  /** Providers (sources of posts). Default: the configured providers. Closing the server closes the providers. */
  readonly providers?: readonly Provider[];
  /** Provider that reads the archive, opened by the caller. Default: the server opens the archive in `PERCH_DATA_DIR`. */
  readonly archive?: Provider;
  /** DNS lookup and connections to hosts that callers name, such as Mastodon servers. Only tests replace this option. */
  readonly network?: PublicHttpOptions;
  /** Gauge of the server's load, which closes with the server. Default: a gauge of the event-loop delay. */
  readonly load?: LoadGauge;
  /**
   * Functions that identify callers. Default: by API key and client address. The benchmark passes a
   * faster substitute.
   */
  readonly identification?: Identification;
  readonly engine?: AnswerEngine;
  /**
   * Source of tracing spans; `null` turns tracing off. Default: the OpenTelemetry SDK, if it was loaded before Perch.
   */
  readonly tracing?: Tracing | null;
  /** Configured settings with their sources, which the dashboard shows. Default: no settings. */
  readonly settings?: Settings;
  /** Warnings about the settings, which the dashboard shows. Default: no warnings. */
  readonly startWarnings?: readonly string[];
}
