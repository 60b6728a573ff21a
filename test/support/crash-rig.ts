import { spawn } from 'node:child_process';
import { expect, onTestFinished } from 'vitest';
import type { SessionEvent } from '../../src/sessions/events.ts';
import {
  loadUntilGone,
  type ReaderLog,
  readFrom,
  type SessionRecording,
  sayAgain,
} from './crash-load.ts';
import { type ClientSession, readStream, wholeLines } from './session-client.ts';
import { parseEvents, typesOf } from './session-rig.ts';
import { builtProgram } from './spawn-perch.ts';

/** Number of concurrent clients. */
const clients = 8;

/** Server with sessions in a process of its own. */
export interface ServerProcess {
  /** Address of the server; rejects if the server is killed before it listens. */
  readonly listening: Promise<string>;
  kill(): Promise<void>;
}

/** Starts a server with its data in a folder. It is killed at the end of the test. */
export function startServer(
  folder: string,
  env: Readonly<Record<string, string>> = {},
): ServerProcess {
  const child = spawn(process.execPath, [builtProgram('session-server')], {
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      PERCH_SESSIONS: 'on',
      PERCH_DATA_DIR: folder,
      PERCH_PROVIDERS: 'archive',
      PERCH_SAMPLE: 'false',
      PERCH_SESSION_STARTS_PER_MINUTE: '100000',
      PERCH_SESSION_START_BURST: '100000',
      PERCH_SESSION_TURNS_PER_MINUTE: '1000000',
      PERCH_SESSION_TURNS_PER_ADDRESS: '1000',
      PIECE_MS: '3',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const listening = new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const [, address] = /listening at (\S+)\n/.exec(text) ?? [];
      if (address !== undefined) resolve(address);
    });
    void ended.then(() => reject(new Error(`the server ended: ${text}`)));
  });
  listening.catch(() => undefined); // a waiting caller gets the error
  return {
    listening,
    kill: () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

export const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A turn from its beginning to its end. */
const wholeTurn = new RegExp(
  `^turn.started message.received step.started( message.appended)* (${[
    'message.completed step.completed turn.completed',
    'message.completed step.failed turn.failed',
    'turn.cancelled',
  ].join('|')}) session.waiting$`,
);

/** Checks that every acknowledged message has a complete turn, in order, and none was answered twice. */
async function expectTurns(base: string, witness: SessionRecording): Promise<readonly string[]> {
  const { session, acknowledged, unanswered } = witness;
  if (unanswered !== null) {
    const { status, body } = await sayAgain(base, session, unanswered);
    expect(status).toBe(202);
    acknowledged.push({ deliveryId: String(body.deliveryId), text: unanswered.text });
    witness.unanswered = null;
  }
  const events = parseEvents(await readStream(base, session.id));
  expect(events.map(({ meta }) => meta.index)).toEqual(events.map((_, index) => index));
  expect(new Set(events.map(({ meta }) => meta.id)).size).toBe(events.length);
  expect(events[0]?.type).toBe('session.started');

  const turns = toTurns(events.slice(1));
  expect(turns.flat()).toEqual(events.slice(1)); // no event belongs to another turn
  const asked = turns.map(([first, received]) => ({
    deliveryId: first?.meta.deliveryIds?.[0],
    text: received?.type === 'message.received' ? received.data.message : undefined,
  }));
  expect(asked).toEqual(acknowledged);
  for (const turn of turns) expect(typesOf(turn).join(' ')).toMatch(wholeTurn);
  return events.flatMap((event) => (event.type === 'turn.failed' ? event.data.code : []));
}

/** Returns the events of each delivery. */
function toTurns(events: readonly SessionEvent[]): readonly (readonly SessionEvent[])[] {
  const turns = new Map<string, SessionEvent[]>();
  for (const event of events) {
    const delivery = event.meta.deliveryIds?.[0] ?? '';
    turns.set(delivery, [...(turns.get(delivery) ?? []), event]);
  }
  return [...turns.values()];
}

/** Checks that events already seen are the same on another read, and that the stream continues after them. */
async function expectSeen(
  base: string,
  session: ClientSession,
  { from, isProven, text }: ReaderLog,
) {
  const again = await readFrom(base, session, { from, isProven });
  expect(again.slice(0, text.length)).toBe(text);
  const seen = wholeLines(text);
  const rest = await readFrom(base, session, { from: from + seen.length, isProven });
  expect([...seen, ...wholeLines(rest)]).toEqual(wholeLines(again));
}

async function expectKept(base: string, witness: SessionRecording): Promise<readonly string[]> {
  const failures = await expectTurns(base, witness);
  for (const seen of witness.seen) await expectSeen(base, witness.session, seen);
  return failures;
}

/** Lets clients send messages to a server, and kills it meanwhile. */
export async function crash(
  server: ServerProcess,
  round: number,
): Promise<readonly SessionRecording[]> {
  const base = await server.listening;
  const witnesses: SessionRecording[] = [];
  let talking: Promise<unknown> = Promise.resolve();
  // By then some messages were acknowledged, however slow the machine is.
  await new Promise<void>((resolve, reject) => {
    const onStarted = (witness: SessionRecording) => {
      witnesses.push(witness);
      resolve();
    };
    const names = Array.from({ length: clients }, (_, client) => `${round}.${client}`);
    talking = Promise.all(names.map((name) => loadUntilGone(base, { name, onStarted })));
    talking.catch(reject);
  });
  await wait(Math.random() * 850);
  await server.kill();
  await talking;
  return witnesses;
}

/** Kills a server while it starts, or while it answers queued messages. */
export async function crashAgain(folder: string, during: 'start' | 'work'): Promise<void> {
  const server = startServer(folder);
  if (during === 'work') await server.listening;
  await wait(Math.random() * (during === 'work' ? 100 : 1500));
  await server.kill();
}

/** Returns the codes of the failed turns. */
export async function expectAllKept(
  server: ServerProcess,
  witnesses: readonly SessionRecording[],
): Promise<readonly string[]> {
  const base = await server.listening;
  const failures: string[] = [];
  for (const witness of witnesses) failures.push(...(await expectKept(base, witness)));
  return failures;
}
