import type { LightMyRequestResponse } from 'fastify';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { type App, buildApp } from '../../src/server/build-app.ts';
import { type SessionEvent, sessionEvent } from '../../src/sessions/events.ts';
import { testConfig } from './build-app.ts';
import { startEngine } from './engine-server.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { createScriptedEngine, type ScriptedEngine } from './scripted-engine.ts';
import { checkSessionReply } from './session-replies.ts';

/** Options of the rig. */
export interface SessionRigOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly engine?: ScriptedEngine;
  readonly clock?: ManualClock;
  readonly onLog?: (line: string) => void;
}

/** Request of a test. */
export interface SessionRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Strings are sent as they are, other values as JSON. */
  readonly body?: unknown;
  /** Address of the client. Default: 127.0.0.1. */
  readonly from?: string;
}

/** Session that a test has started. */
export interface StartedSession {
  readonly id: string;
  readonly token: string;
  readonly deliveryId: string;
  /** Header with the continuation token. */
  readonly proof: { readonly 'x-continuation-token': string };
}

/** Event types of an answered turn without streamed text. */
export const answeredTurn: readonly string[] = [
  'turn.started',
  'message.received',
  'step.started',
  'message.appended',
  'message.completed',
  'step.completed',
  'turn.completed',
  'session.waiting',
];

/** App with sessions and a client that checks all responses. It is closed at the end of the test. */
export interface SessionRig {
  readonly app: App;
  readonly clock: ManualClock;
  request(path: string, asked?: SessionRequest): Promise<LightMyRequestResponse>;
  /** Starts a session. The message must be accepted. */
  start(message?: unknown, headers?: Readonly<Record<string, string>>): Promise<StartedSession>;
  /** Sends a message to a session. */
  say(session: StartedSession, message: string, body?: object): Promise<LightMyRequestResponse>;
  /** Reads a stream to its end. */
  read(session: StartedSession, query?: string): Promise<readonly SessionEvent[]>;
}

/** Settings that turn off parts that sessions do not need, to build the app faster. */
const lean = { PERCH_PROVIDERS: 'archive', PERCH_SAMPLE: 'false' };

/** Number of instances on one engine that serve all tests of sessions by turns; 0 for one app in memory. */
const instances = Number(process.env.PERCH_TEST_INSTANCES ?? 0);

/** Test of one process: of its own clock, file, limit of turns or shutdown. Skipped if several instances are tested. */
export const itAlone = it.skipIf(instances > 0);

/** Builds an app with sessions in memory, or several on one engine. */
export async function buildSessionRig(options: SessionRigOptions = {}): Promise<SessionRig> {
  const clock = options.clock ?? createManualClock();
  const env = instances === 0 ? {} : { PERCH_REDIS_URL: (await startEngine()).url };
  const engine = options.engine ?? createScriptedEngine();
  const build = async () => {
    const app = await buildApp({
      config: testConfig({ ...lean, PERCH_SESSIONS: 'on', ...env, ...options.env }),
      clock,
      engineClock: systemClock,
      random: systemRandom,
      logger: pino({ level: 'debug' }, { write: (line) => options.onLog?.(line) }),
      engine,
    });
    onTestFinished(() => app.server.close());
    return app;
  };
  const apps = await Promise.all(Array.from({ length: Math.max(1, instances) }, build));
  const [app] = apps as [App];
  const request = async (path: string, asked: SessionRequest = {}) => {
    const { method = 'GET', headers = {}, body, from = '127.0.0.1' } = asked;
    const payload = typeof body === 'string' ? body : JSON.stringify(body);
    const one = apps[Math.floor(Math.random() * apps.length)] ?? app;
    const reply = await one.server.inject({
      url: path.startsWith('/') ? path : `/svc/v1/${path}`,
      method: method as 'GET',
      remoteAddress: from,
      headers: { ...(body === undefined ? {} : json), ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
    checkSessionReply(reply);
    return reply;
  };
  return {
    app,
    clock,
    request,
    start: async (message = 'Where is X documented?', headers = {}) => {
      const reply = await request('session', { method: 'POST', headers, body: { message } });
      expect(reply.statusCode, reply.body).toBe(202);
      const { sessionId: id, continuationToken: token, deliveryId } = reply.json();
      return { id, token, deliveryId, proof: { 'x-continuation-token': token } };
    },
    say: ({ id, proof }, message, body = {}) =>
      request(`session/${id}`, { method: 'POST', headers: proof, body: { message, ...body } }),
    read: async ({ id }, query = '') =>
      parseEvents((await request(`session/${id}/stream${query}`)).body),
  };
}

const json = { 'content-type': 'application/json' };

/** Parses the body of a stream as `docs/contract/sessions.md#events` describes, and checks each event. */
export function parseEvents(body: string): readonly SessionEvent[] {
  return body
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => sessionEvent.parse(JSON.parse(line)));
}

/** Returns the answer in a stream: the message of the last `message.completed`. */
export function lastAnswer(events: readonly SessionEvent[]): string | undefined {
  const completed = events.filter((event) => event.type === 'message.completed');
  return completed.at(-1)?.data.message;
}

/** Waits until all pending work that needs no time is done: commits, wake-ups and writes. */
export async function untilIdle(): Promise<void> {
  if (instances > 0) await systemClock.sleep(200); // other instances are notified by the engine
  for (let turn = 0; turn < 20; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Returns the types of events. */
export function typesOf(events: readonly SessionEvent[]): readonly string[] {
  return events.map(({ type }) => type);
}
