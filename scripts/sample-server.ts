import { createHash } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import type { AnswerEngine } from '../src/answers/answer.ts';
import { loadConfig } from '../src/config/config.ts';
import { systemClock } from '../src/lib/clock.ts';
import type { Random } from '../src/lib/random.ts';
import type { LoadGauge } from '../src/routes/monitoring/load.ts';
import { type App, buildApp } from '../src/server/build-app.ts';

/** Admin token of sample servers. */
export const sampleToken = 'an-admin-token-that-only-this-script-has';

/** Options of a sample server. `env` overrides default settings. */
export interface SampleOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly load?: LoadGauge;
  /** Answer engine of the session service. Without an engine, the session service is off. */
  readonly engine?: AnswerEngine;
}

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH';
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string;
}

export type SendRequest = (
  url: string,
  options?: RequestOptions,
) => Promise<LightMyRequestResponse>;

/** Server with sample data, a fixed clock and deterministic random values, so that responses never vary. */
export interface SampleServer {
  readonly app: App;
  readonly request: SendRequest;
  readonly baseUrl: string;
}

/** Opens a server with sample data. Callers must call `app.server.close()`. */
export async function openSample({
  env = {},
  load,
  engine,
}: SampleOptions = {}): Promise<SampleServer> {
  const loaded = loadConfig({
    PERCH_DATA_DIR: ':memory:',
    PERCH_BASE_URL: 'https://perch.example.org',
    PERCH_PROVIDERS: 'archive',
    PERCH_CURSOR_KEY: 'a key of cursors that is the same each time',
    PERCH_MAX_EVENT_LOOP_DELAY_MS: '0', // a busy machine must record the same examples
    PERCH_ADMIN_TOKEN: sampleToken,
    PERCH_SESSIONS: engine === undefined ? 'off' : 'on',
    ...env,
  });
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'));
  const app = await buildApp({
    config: loaded.config,
    clock: { ...systemClock, now: () => Date.UTC(2026, 10, 1, 12) },
    random: createSteadyRandom(),
    logger: pino({ level: 'silent' }),
    ...(load === undefined ? {} : { load }),
    ...(engine === undefined ? {} : { engine }),
  });
  const request: SendRequest = (url, options = {}) => app.server.inject({ url, ...options });
  return { app, request, baseUrl: loaded.config.PERCH_BASE_URL };
}

/** Creates a source of bytes that are the same in each run, but differ between calls, so that ids are unique. */
function createSteadyRandom(): Random {
  let calls = 0;
  return {
    fraction: () => 0.5,
    bytes: (count) => {
      calls += 1;
      return Buffer.alloc(count, createHash('sha256').update(String(calls)).digest());
    },
  };
}

/** Waits for a response and returns it. @throws Error if the status is 300 or above */
export async function requireOk(
  reply: Promise<LightMyRequestResponse>,
): Promise<LightMyRequestResponse> {
  const { statusCode, body } = await reply;
  if (statusCode >= 300) throw new Error(`The request for an example failed: ${body}`);
  return reply;
}
