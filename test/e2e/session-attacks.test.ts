import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { describe, expect, it } from 'vitest';
import { listen } from '../support/listen.ts';
import { answerTo, createManualEngine, createScriptedEngine } from '../support/scripted-engine.ts';
import {
  type Answered,
  openStream,
  postTo,
  readStream,
  startSession,
} from '../support/session-client.ts';
import { lastAnswer, parseEvents, typesOf } from '../support/session-rig.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

/** Addresses of clients, all on this machine. */
const [attacker, accomplice, stranger] = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;

interface Serving {
  readonly env: Readonly<Record<string, string>>;
  readonly engine?: ReturnType<typeof createScriptedEngine>;
}

async function serve({ env, engine = createScriptedEngine() }: Serving): Promise<string> {
  const lean = {
    PERCH_PROVIDERS: 'archive',
    PERCH_SAMPLE: 'false',
    PERCH_SESSIONS: 'on',
    PERCH_METRICS: 'open',
  };
  return (await listen({ ...lean, ...env }, { engine })).url;
}

interface Flood {
  readonly from: string;
  readonly count: number;
  readonly message?: string;
}

/** Starts sessions one after the other, each with another bearer token. */
async function flood(
  base: string,
  { from, count, message = 'x' }: Flood,
): Promise<readonly Answered[]> {
  const answers: Answered[] = [];
  for (let at = 0; at < count; at += 1) {
    const headers = { authorization: `Bearer made-up-${from}-${at}` };
    answers.push(await postTo(base, 'session', { from, headers, body: { message } }));
  }
  return answers;
}

const codesOf = (answers: readonly Answered[]) =>
  answers.map(({ status, body }) => (status === 202 ? 'accepted' : body.code));

const countOf = (answers: readonly Answered[], code: string) =>
  codesOf(answers).filter((one) => one === code).length;

/** Sends a question to the page for questions from an address. */
async function askPage(base: string, question: string, from: string): Promise<string> {
  const dispatcher = new Agent({ connect: { localAddress: from } });
  const url = `${base}/docs/ask?q=${encodeURIComponent(question)}`;
  const { body } = await request(url, { dispatcher, headers: { accept: 'text/markdown' } });
  const text = await body.text();
  await dispatcher.close();
  return text;
}

describe('a client with made-up bearer tokens', () => {
  it('is limited to the session starts of its address', async () => {
    const base = await serve({
      env: { PERCH_SESSION_STARTS_PER_MINUTE: '1', PERCH_SESSION_START_BURST: '5' },
    });

    const answers = await flood(base, { from: attacker, count: 30 });
    const other = await postTo(base, 'session', { from: stranger, body: { message: 'one' } });

    expect(countOf(answers, 'accepted')).toBe(5);
    expect(countOf(answers, 'rate_limited')).toBe(25);
    expect(other.status).toBe(202);
  });

  it('evicts no session of another address', async () => {
    const base = await serve({ env: { PERCH_SESSION_LIVE: '12' } });
    const { id } = await startSession(base, 'mine', { from: stranger });
    await readStream(base, id);

    for (const from of [attacker, accomplice]) await flood(base, { from, count: 30 });

    expect(typesOf(parseEvents(await readStream(base, id))).at(-1)).toBe('session.waiting');
  });

  it('keeps only the newest live sessions, up to the limit of its address', async () => {
    const base = await serve({ env: { PERCH_SESSION_LIVE_PER_ADDRESS: '3' } });
    const ids: string[] = [];
    for (const message of ['one', 'two', 'three', 'four', 'five']) {
      const { id } = await startSession(base, message, { from: attacker });
      await readStream(base, id);
      ids.push(id);
    }

    const last = await Promise.all(
      ids.map(async (id) => parseEvents(await readStream(base, id)).at(-1)?.data),
    );

    expect(last.map((data) => data && 'reason' in data && data.reason)).toEqual([
      'evicted',
      'evicted',
      false,
      false,
      false,
    ]);
  });

  it('does not delay others with its queue of questions', async () => {
    const engine = createManualEngine();
    const base = await serve({ engine, env: { PERCH_SESSION_TURNS_AT_ONCE: '1' } });
    await flood(base, { from: attacker, count: 20, message: 'flood' });
    const first = await engine.next();

    const { id } = await startSession(base, 'mine', { from: stranger });
    const page = askPage(base, 'my page', accomplice);
    await untilWaiting(base, 21);
    first.answer();
    for (let turn = 0; turn < 3; turn += 1) (await engine.next()).answer();

    expect(engine.asked.map(({ text }) => text).slice(0, 4)).toEqual(
      expect.arrayContaining(['mine', 'my page']),
    );
    expect(lastAnswer(parseEvents(await readStream(base, id)))).toBe(answerTo('mine').text);
    expect(await page).toContain(answerTo('my page').text);
  });

  it('is limited to the queued turns of its address', async () => {
    const engine = createManualEngine();
    const base = await serve({
      engine,
      env: { PERCH_SESSION_TURNS_AT_ONCE: '1', PERCH_SESSION_TURNS_PER_ADDRESS: '4' },
    });

    const answers = await flood(base, { from: attacker, count: 10 });
    const other = await postTo(base, 'session', { from: stranger, body: { message: 'one' } });

    expect(countOf(answers, 'accepted')).toBe(4);
    expect(countOf(answers, 'turn_queue_full')).toBe(6);
    const full = await postTo(base, 'session', { from: attacker, body: { message: 'one' } });
    expect(full.body.detail).toContain('`PERCH_SESSION_TURNS_PER_ADDRESS`');
    expect(other.status).toBe(202);
  });

  it('is limited to the open streams of its address', async () => {
    const engine = createManualEngine();
    const base = await serve({ engine, env: { PERCH_SESSION_STREAMS_PER_ADDRESS: '2' } });
    const { id } = await startSession(base, 'mine', { from: stranger });
    const open = (from: string) => openStream(base, id, { from });

    const streams = [await open(attacker), await open(attacker), await open(attacker)];
    const other = await open(stranger);
    for (const { call } of [...streams, other]) call.destroy();

    expect(streams.map(({ reply }) => reply.statusCode)).toEqual([200, 200, 503]);
    expect(other.reply.statusCode).toBe(200);
  });

  it('is limited to the messages of its address', async () => {
    const base = await serve({ env: { PERCH_SESSION_TURNS_PER_MINUTE: '12' } });
    const { id, token } = await startSession(base, 'one', { from: attacker });
    const say = (from: string) =>
      postTo(base, `session/${id}`, { from, token, body: { message: 'more' } });

    const answers: Answered[] = [];
    for (let at = 0; at < 10; at += 1) answers.push(await say(attacker));

    expect(countOf(answers, 'accepted')).toBe(3);
    expect(countOf(answers, 'rate_limited')).toBe(7);
    expect((await say(stranger)).status).toBe(202);
  });
});

describe('a client that stores much', () => {
  const megabyte = 1_048_576;

  it('is limited to the storage of its address, and evicts nothing of others', async () => {
    const folder = `${temporaryFolder()}/data`;
    const base = await serve({
      env: {
        PERCH_DATA_DIR: folder,
        PERCH_SESSION_BYTES_PER_ADDRESS: String(2 * megabyte),
        PERCH_SESSION_BYTES: String(16 * megabyte),
      },
    });
    const { id, token } = await startSession(base, 'mine', { from: stranger });
    await postTo(base, `session/${id}/reset`, { from: stranger, token });

    const answers = await flood(base, {
      from: attacker,
      count: 100,
      message: 'x'.repeat(60_000),
    });

    expect(countOf(answers, 'accepted')).toBe(100);
    expect((await readStream(base, id)).length).toBeGreaterThan(0);
    expect(bytesIn(folder, 'sessions.db')).toBeLessThan(6 * megabyte);
  });
});

function bytesIn(folder: string, start: string): number {
  return readdirSync(folder)
    .filter((name) => name === start)
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

/** Waits until this many turns are queued. */
async function untilWaiting(base: string, count: number): Promise<void> {
  for (;;) {
    const reply = await fetch(`${base}/metrics`);
    const [, waiting = '0'] = /^perch_turns_waiting (\d+)/m.exec(await reply.text()) ?? [];
    if (Number(waiting) >= count) return;
  }
}
