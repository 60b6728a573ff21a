import { createHash } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import type { AnswerEngine } from '../src/answers/answer.ts';
import { type App, buildApp } from '../src/app/build-app.ts';
import { loadConfig } from '../src/config/config.ts';
import { systemClock } from '../src/core/clock.ts';
import type { Random } from '../src/core/random.ts';
import type { LoadGauge } from '../src/http/operations/load.ts';

/** The admin token of servers with the sample. */
export const sampleToken = 'an-admin-token-that-only-this-script-has';

/** How a server with the sample differs from the usual one. */
export interface SampleOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly load?: LoadGauge;
  /** With one there are sessions. */
  readonly engine?: AnswerEngine;
}

/** What is sent with a request. */
export interface Asked {
  readonly method?: 'GET' | 'POST' | 'PATCH';
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: string;
}

/** Asks a server. */
export type Ask = (url: string, asked?: Asked) => Promise<LightMyRequestResponse>;

/** A server with the sample, a clock that stands still and no chance: it says the same each time. */
export interface SampleServer {
  readonly app: App;
  readonly ask: Ask;
  readonly baseUrl: string;
}

/** Opens a server with the sample; close it with `app.server.close()`. */
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
    PERCH_MAX_EVENT_LOOP_DELAY_MS: '0', // a busy machine records the same examples
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
  const ask: Ask = (url, asked = {}) => app.server.inject({ url, ...asked });
  return { app, ask, baseUrl: loaded.config.PERCH_BASE_URL };
}

/** Gives bytes that are the same in each run, and others at each call: no two sessions have one id. */
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

/**
 * Waits for a reply that is there.
 *
 * @throws Error where the request was refused
 */
export async function found(
  reply: Promise<LightMyRequestResponse>,
): Promise<LightMyRequestResponse> {
  const { statusCode, body } = await reply;
  if (statusCode >= 300) throw new Error(`An example was refused: ${body}`);
  return reply;
}
