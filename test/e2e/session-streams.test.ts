import type { ServerResponse } from 'node:http';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { shutDown } from '../../src/cli/serve.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { type App, buildApp } from '../../src/server/build-app.ts';
import { type SessionEvent, sessionEvent } from '../../src/sessions/events.ts';
import { testConfig } from '../support/build-app.ts';
import { createManualClock } from '../support/manual-clock.ts';
import {
  answerTo,
  createManualEngine,
  createScriptedEngine,
  type ScriptedEngine,
} from '../support/scripted-engine.ts';
import {
  openStream,
  postTo,
  readBytes,
  readStream,
  readText,
  startSession,
  takeLine,
  wholeLines,
} from '../support/session-client.ts';
import { answeredTurn, lastAnswer, parseEvents, typesOf } from '../support/session-rig.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

interface Serving {
  readonly engine?: ScriptedEngine;
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: typeof systemClock;
}

/** Serves sessions on loopback until the test has finished. */
async function serve({ engine = createScriptedEngine(), env = {}, clock = systemClock }: Serving) {
  const app = await buildApp({
    config: testConfig({
      PERCH_PROVIDERS: 'archive',
      PERCH_SAMPLE: 'false',
      PERCH_SESSIONS: 'on',
      ...env,
    }),
    clock,
    random: systemRandom,
    logger: pino({ level: 'silent' }),
    engine,
  });
  onTestFinished(() => closeHard(app));
  return { app, base: await app.server.listen({ host: '127.0.0.1', port: 0 }) };
}

function closeHard(app: App): Promise<undefined> {
  const closed = app.server.close();
  app.server.server.closeAllConnections();
  return closed as unknown as Promise<undefined>;
}

/** Opens a stream and resolves when its headers have arrived. */
async function openAndRead(base: string, id: string, query = '') {
  const { reply } = await openStream(base, id, { query });
  return { body: readText(reply) };
}

/** Reads like clients do: every line that is not empty, until the response ends. */
async function readLines(base: string, id: string, query = ''): Promise<readonly SessionEvent[]> {
  const lines = (await readStream(base, id, query)).split('\n');
  expect(lines.pop()).toBe('');
  expect(lines).not.toContain('');
  return lines.map((line) => sessionEvent.parse(JSON.parse(line)));
}

const answered = answeredTurn;

describe('a reader that reads until the end of the response', () => {
  it('gets one answer, then two with the newest last, then only the second', async () => {
    const { base } = await serve({});
    const { id, token } = await startSession(base, 'one');

    const first = await readLines(base, id);
    await postTo(base, `session/${id}`, { token, body: { message: 'two' } });
    const both = await readLines(base, id);
    const second = await readLines(base, id, `?startIndex=${first.length}`);

    expect(typesOf(first)).toEqual(['session.started', ...answered]);
    expect(lastAnswer(first)).toBe(answerTo('one').text);
    expect(typesOf(both)).toEqual(['session.started', ...answered, ...answered]);
    expect(lastAnswer(both)).toBe(answerTo('two').text);
    expect(second).toEqual(both.slice(first.length));
  });
});

describe('an interrupted stream', () => {
  it('resumes by index at and within every event: same events, no gap, no repeat', async () => {
    const { base } = await serve({});
    const { id, token } = await startSession(base, 'é');
    await readStream(base, id);
    await postTo(base, `session/${id}`, { token, body: { message: '“two” 🦤' } });
    const whole = await readStream(base, id);
    const bytes = Buffer.from(whole);

    const cuts = new Set<number>();
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) {
      for (const cut of [at - 7, at, at + 1]) cuts.add(cut);
    }
    for (const cut of cuts) {
      const first = await readBytes(base, id, { query: '', bytes: cut });
      const seen = wholeLines(first.toString());
      const last = seen.at(-1);
      const next = last === undefined ? 0 : JSON.parse(last).meta.index + 1;
      const rest = await readStream(base, id, `?startIndex=${next}`);
      expect([...seen, ...wholeLines(rest)]).toEqual(wholeLines(whole));
    }
  });

  it('resumes by index while the turn runs, with another connection for each event', async () => {
    const engine = createManualEngine();
    const { base } = await serve({ engine });
    const { id } = await startSession(base, 'one');
    const held = await engine.next();
    const seen: string[] = [];
    const takeNext = async (meanwhile: () => void = () => undefined) => {
      const stream = await openStream(base, id, { query: `?startIndex=${seen.length}` });
      meanwhile();
      seen.push(await takeLine(stream));
    };

    for (let event = 0; event < 4; event += 1) await takeNext();
    for (const letter of 'abc') await takeNext(() => held.say(letter.repeat(64)));
    const text = [...'abc'].map((letter) => letter.repeat(64)).join('');
    await takeNext(() => held.answer(answerTo('one', { text })));
    for (let event = 0; event < 3; event += 1) await takeNext();

    expect(seen).toEqual(wholeLines(await readStream(base, id)));
    expect(seen).toHaveLength(11);
  });

  it('stops neither the turn nor other streams', async () => {
    const engine = createManualEngine();
    const { base } = await serve({ engine });
    const { id } = await startSession(base, 'one');
    const held = await engine.next();
    const { reply, call } = await openStream(base, id);
    await new Promise((resolve) => reply.once('data', resolve));
    const other = readStream(base, id);
    reply.on('error', () => undefined);
    call.destroy();
    held.answer();

    expect(typesOf(parseEvents(await other)).at(-1)).toBe('session.waiting');
    expect(held.signal.aborted).toBe(false);
  });
});

/** Returns the maximum number of bytes that the server buffers for one of its open responses. */
function watchBuffers(app: App): () => number {
  const open = new Set<ServerResponse>();
  app.server.server.on('request', (_request, response: ServerResponse) => {
    open.add(response);
    response.once('close', () => open.delete(response));
  });
  return () => Math.max(...[...open].map(({ writableLength }) => writableLength));
}

describe('a reader that disconnects', () => {
  it('frees its slot at once, even if the stream is idle', async () => {
    // No time passes, so no periodic check runs.
    const clock = createManualClock();
    const env = { PERCH_SESSION_STREAMS_PER_SESSION: '1' };
    const { base } = await serve({ env, clock });
    const { id } = await startSession(base, 'one');
    await readStream(base, id);
    const { call, reply } = await openStream(base, id, { query: '?follow=true&startIndex=9999' });
    expect((await fetch(`${base}/svc/v1/session/${id}/stream`)).status).toBe(503);

    reply.on('error', () => undefined);
    call.destroy();

    const open = async () => (await fetch(`${base}/svc/v1/session/${id}/stream`)).status;
    await expect.poll(open).toBe(200);
  });
});

describe('fifty readers with one that does not read', () => {
  it('are not slowed down, and the stalled one is disconnected', async () => {
    const clock = createManualClock();
    const text = 'x'.repeat(250_000);
    const engine = createScriptedEngine(async () => answerTo('', { text }));
    const env = { PERCH_SESSION_STREAMS_PER_SESSION: '51', PERCH_SESSION_QUEUE: '20' };
    const { app, base } = await serve({ engine, env, clock });
    const mostHeld = watchBuffers(app);
    const { id, token } = await startSession(base, 'one');
    const stalled = await openStream(base, id, { query: '?follow=true' });
    stalled.reply.pause();
    const gone = new Promise((resolve) => stalled.reply.on('close', resolve));
    stalled.reply.on('error', () => undefined);
    const readers = await Promise.all(
      Array.from({ length: 49 }, () => openAndRead(base, id, '?follow=true')),
    );

    for (let turn = 1; turn < 12; turn += 1) {
      await postTo(base, `session/${id}`, { token, body: { message: `turn ${turn}` } });
    }
    const whole = await readStream(base, id); // ends when everything is answered
    await postTo(base, `session/${id}/reset`, { token });
    const bodies = await Promise.all(readers.map(({ body }) => body));
    // The history has nine megabytes; the server may buffer one framed chunk for each reader.
    expect(whole.length).toBeGreaterThan(8_000_000);
    const held = mostHeld();
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(100_000);
    for (let second = 0; second <= 31; second += 1) await clock.advance(1000);
    stalled.reply.resume();
    await gone;

    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]?.startsWith(whole)).toBe(true);
    expect(parseEvents(bodies[0] ?? '')).toHaveLength(1 + 12 * 8 + 1);
    expect(stalled.reply.complete).toBe(false);
  });
});

describe('a shutdown', () => {
  const stop = (app: App, graceMs: number) =>
    shutDown(app, { clock: systemClock, graceMs, drainMs: 0 });

  it('lets running turns finish, and ends streams at a line boundary', async () => {
    const engine = createManualEngine();
    const { app, base } = await serve({ engine });
    const { id } = await startSession(base, 'one');
    const held = await engine.next();
    const [plain, follow, lease] = await Promise.all(
      ['', '?follow=true', '?streamControlVersion=1'].map((query) => openAndRead(base, id, query)),
    );

    const stopped = stop(app, 60_000);
    const refused = await postTo(base, 'session', { body: { message: 'no' } });
    const late = await openAndRead(base, id);
    held.answer();
    await stopped;

    expect([refused.status, refused.body.code]).toEqual([503, 'shutting_down']);
    for (const body of [await plain?.body, await follow?.body, await late.body]) {
      const types = typesOf(parseEvents(body ?? ''));
      expect(types.slice(-2)).toEqual(['turn.completed', 'session.waiting']);
      expect(body?.endsWith('\n')).toBe(true);
    }
    const lines = wholeLines((await lease?.body) ?? '');
    expect(lines.at(-1)).toBe('{"$eve":"stream.lease-ended","version":1}');
  });

  it('fails the unfinished turns, and keeps the queued messages', async () => {
    const engine = createManualEngine();
    const env = { PERCH_DATA_DIR: `${temporaryFolder()}/data` };
    const { app, base } = await serve({ engine, env });
    const { id, token } = await startSession(base, 'one');
    await engine.next();
    await postTo(base, `session/${id}`, { token, body: { message: 'two' } });
    const reading = await openAndRead(base, id);

    await stop(app, 0);
    const events = parseEvents(await reading.body);
    const next = await serve({ env });
    const after = parseEvents(await readStream(next.base, id));

    expect(typesOf(events).slice(-4)).toEqual([
      'message.completed',
      'step.failed',
      'turn.failed',
      'session.waiting',
    ]);
    expect(events.at(-2)?.data).toMatchObject({ code: 'turn_interrupted', terminal: false });
    expect(after.slice(0, events.length)).toEqual(events);
    expect(after.slice(events.length)).toHaveLength(8);
    expect(after.at(-4)?.data).toMatchObject({ message: answerTo('two').text });
  });
});

describe('a data folder', () => {
  it('is used by one server at a time', async () => {
    const env = { PERCH_DATA_DIR: `${temporaryFolder()}/data` };
    const { app } = await serve({ env });

    await expect(serve({ env })).rejects.toThrow(
      /Another process uses the sessions in .*sessions\.db\. .*PERCH_SESSIONS=off/,
    );
    await app.server.close();
    await expect(serve({ env })).resolves.toBeDefined();
  });
});
