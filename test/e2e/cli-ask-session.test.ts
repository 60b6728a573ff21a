import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { buildTestApp } from '../support/build-app.ts';
import { corpusOf } from '../support/corpus-folder.ts';
import { runHere } from '../support/run-here.ts';
import { answerTo, createManualEngine, createScriptedEngine } from '../support/scripted-engine.ts';
import { parseEvents } from '../support/session-rig.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const unknown = 'ses_01KA3V9Z7T0123456789ABCDEF';

/** Data directory of a test, with the environment variables for the server and the commands. */
interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

function openPlace(env: Record<string, string> = {}): Place {
  const { root } = corpusOf({
    'gates.md':
      '# Gates\n\n## Opening hours\n\nThe sluice gates open at six in the morning.\n\n## Paint\n\nThe sluice gates are painted green.\n',
  });
  const folder = `${temporaryFolder()}/data`;
  return { folder, env: { PERCH_DATA_DIR: folder, PERCH_CORPUS: root, ...env } };
}

async function perch({ env }: Place, ...args: string[]) {
  const { code, stdout: out, stderr: err } = await runHere(args, env);
  return { code, out, err };
}

const ask = (place: Place, session: string, question: string, ...options: string[]) =>
  perch(place, 'ask', question, '--session', session, ...options);

const idIn = (err: string) => /ses_\w{26}/.exec(err)?.[0] ?? '';

/** Serves the sessions on a free port. Commands find the port only through the address file. */
async function serve({ env }: Place, engine = createScriptedEngine()) {
  const app = await buildTestApp({
    env: { PERCH_SESSIONS: 'on', PERCH_PROVIDERS: 'archive', PERCH_SAMPLE: 'false', ...env },
    clock: systemClock,
    engine,
  });
  const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
  return { app, engine, url };
}

describe('perch ask --session without a server', () => {
  it('starts a session, and understands a follow-up from the earlier question', async () => {
    const place = openPlace();

    const first = await ask(place, 'new', 'When do the sluice gates open?');
    const id = idIn(first.err);
    const second = await ask(place, id, 'And how are they painted?', '--json');

    expect([first.code, second.code]).toEqual([0, 0]);
    expect(first.out).toMatch(/^The sluice gates open at six in the morning\./);
    expect(first.out).toContain('- Opening hours – Gates (`gates.md#opening-hours:5`)\n');
    expect(first.err).toBe(`perch: The session ID is ${id}.\n`);
    const { message, citations, ...rest } = JSON.parse(second.out);
    expect(message).toContain('painted green');
    expect(citations).toContainEqual(expect.objectContaining({ heading: 'Paint', line: 9 }));
    expect(rest).toEqual({ finishReason: 'stop', abstained: false, sessionId: id });
    const shown = await perch(place, 'sessions', 'show', id);
    expect(shown.out).toContain('> When do the sluice gates open?\n\nThe sluice gates open at six');
    expect(shown.out).toContain('> And how are they painted?');
    expect(shown.out).toMatch(/^ses_\w+: waiting, 2 turns/);
  });

  it('leaves a session that a server can continue', async () => {
    const place = openPlace();
    const { err } = await ask(place, 'new', 'When do the sluice gates open?');
    const id = idIn(err);

    const { app, engine } = await serve(place);
    const more = await ask(place, id, 'And on Sundays?');

    expect(more).toMatchObject({ code: 0, out: 'The answer to “And on Sundays?”.\n' });
    expect(engine.asked[0]?.earlier.map(({ question }) => question)).toEqual([
      'When do the sluice gates open?',
    ]);
    const stream = await app.request(`/svc/v1/session/${id}/stream?follow=false`);
    const questions = parseEvents(stream.body).filter(({ type }) => type === 'message.received');
    expect(questions).toHaveLength(2);
  });

  it('exits with 1 if the docs do not answer the question', async () => {
    const { code, out } = await ask(openPlace(), 'new', 'price of crude oil in 1973');

    expect(code).toBe(1);
    expect(out).toMatch(/^The documentation does not seem to answer this/);
  });

  it('answers waiting questions of other sessions completely, or not at all', async () => {
    const place = openPlace();
    const engine = createManualEngine();
    const { app } = await serve(place, engine);
    const started = await app.request('/svc/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      payload: '{"message":"When do the sluice gates open?"}',
    });
    await engine.next();
    const { sessionId } = started.json();
    const { continuationToken: token } = started.json();
    await app.request(`/svc/v1/session/${sessionId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-continuation-token': token },
      payload: '{"message":"How are the sluice gates painted?"}',
    });
    await app.server.close();

    const { code } = await ask(place, 'new', 'When do the sluice gates open?');

    expect(code).toBe(0);
    const { out } = await perch(place, 'sessions', 'show', sessionId);
    expect(out).toMatch(/\(waiting\)|painted green/);
    expect(out.match(/The server was stopped/g)).toHaveLength(1);
  });
});

describe('perch ask --session beside a server', () => {
  it('finds the server by its address file, and prints the answer as it arrives', async () => {
    const place = openPlace();
    const engine = createManualEngine();
    const { url } = await serve(place, engine);
    const asked = ask(place, 'new', 'one');
    const held = await engine.next();

    held.say(`${'word '.repeat(20)}\n`);
    held.say('end');
    held.answer(answerTo('one', { text: `${'word '.repeat(20)}\nend` }));
    const { code, out, err } = await asked;

    expect({ code, out }).toEqual({ code: 0, out: `${'word '.repeat(20)}\nend\n` });
    const stream = await fetch(`${url}/svc/v1/session/${idIn(err)}/stream`);
    expect(await stream.text()).toContain('"message":"one"');
  });

  it('continues sessions of other callers, and prints only its own turn', async () => {
    const place = openPlace();
    const { app, engine } = await serve(place);
    const started = await app.request('/svc/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer other' },
      payload: '{"message":"one"}',
    });

    const { code, out } = await ask(place, started.json().sessionId, 'two');

    expect({ code, out }).toEqual({ code: 0, out: 'The answer to “two”.\n' });
    expect(engine.asked[1]?.earlier).toHaveLength(1);
  });

  it('prints the final answer in full if a draft was withdrawn', async () => {
    const place = openPlace();
    await serve(
      place,
      createScriptedEngine(async ({ text }, { onText }) => {
        onText('A draft that is long enough to be sent at once, with more than sixty characters.');
        return answerTo(text);
      }),
    );

    const { out } = await ask(place, 'new', 'one');

    expect(out).toMatch(/^A draft .*characters\.\n\nThe answer to “one”\.\n$/);
  });

  it('prints why a turn failed, and exits with 3', async () => {
    const place = openPlace();
    await serve(
      place,
      createScriptedEngine(async () => {
        throw new Error('broken');
      }),
    );

    const plain = await ask(place, 'new', 'one');
    const json = await ask(place, 'new', 'one', '--json');

    expect(plain).toMatchObject({ code: 3, out: '' });
    expect(plain.err).toContain('error in the server');
    expect(JSON.parse(json.out)).toMatchObject({ finishReason: 'error', citations: [] });
  });

  it('reports that the server of the sessions does not respond', async () => {
    const place = openPlace();
    const { app } = await serve(place);
    writeFileSync(`${place.folder}/sessions.db.address`, 'http://127.0.0.1:9/svc/v1\n');

    const gone = await ask(place, unknown, 'one');
    await app.server.close();

    expect(gone.code).toBe(3);
    expect(gone.err).toContain('The server at http://127.0.0.1:9 does not respond.');
    expect(existsSync(`${place.folder}/sessions.db.address`)).toBe(false);
  });
});

describe.each(['a server', 'no server'])('perch ask --session with %s', (beside) => {
  const openWith = async (env: Record<string, string> = {}) => {
    const place = openPlace(env);
    if (beside === 'a server') await serve(place);
    return place;
  };

  it('refuses an unknown session, with advice', async () => {
    const { code, err } = await ask(await openWith(), unknown, 'one');

    expect(code).toBe(2);
    expect(err).toBe(
      'perch: There is no session with this id. `perch sessions list` lists the sessions, `--session new` starts one.\n',
    );
  });

  it('refuses a session that has ended, and one that was deleted', async () => {
    const place = await openWith({ PERCH_SESSION_TURNS: '1' });
    const id = idIn((await ask(place, 'new', 'When do the sluice gates open?')).err);

    const ended = await ask(place, id, 'How are they painted?');
    await perch(place, 'sessions', 'remove', id);
    const removed = await ask(place, id, 'How are they painted?');

    expect([ended.code, removed.code]).toEqual([2, 2]);
    expect(ended.err).toContain('has ended. `--session new` starts a new one');
    expect(removed.err).toContain('was deleted. `--session new` starts a new one.');
  });

  it('refuses a session bound to another bearer token, and continues its own', async () => {
    const place = openPlace({ PERCH_SESSION_BIND_BEARER: 'on' });
    const { app } = await serve(place);
    const started = await app.request('/svc/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer other' },
      payload: '{"message":"one"}',
    });
    const { sessionId } = started.json();
    if (beside === 'no server') await app.server.close();

    const foreign = await ask(place, sessionId, 'When do the sluice gates open?');
    const own = await ask(place, 'new', 'When do the sluice gates open?');
    const more = await ask(place, idIn(own.err), 'How are the sluice gates painted?');

    expect([foreign.code, own.code, more.code]).toEqual([2, 0, 0]);
    expect(foreign.err).toContain('another bearer token');
  });

  it('refuses a message that is too long', async () => {
    const place = await openWith({ PERCH_SESSION_MESSAGE_BYTES: '10' });

    const { code, err } = await ask(place, 'new', 'a question of many words');

    expect(code).toBe(2);
    expect(err).toContain('longer than 10 bytes. Ask a shorter question.');
  });
});

it.each([
  [['--session', 'ses_1'], {}, '--session must be `new` or an ID'],
  [['--session', ''], {}, '--session must be `new` or an ID'],
  [['--session', 'new', '--corpus', '.'], {}, '--corpus and --session cannot be used together'],
  [['--session', 'new'], { PERCH_SESSION_STORE: 'memory' }, 'in the memory of the server'],
  [['--session', 'new'], { PERCH_DATA_DIR: ':memory:' }, 'in the memory of the server'],
  [['--session', 'new'], { PERCH_CORPUS: '/nowhere' }, 'There is no folder or file /nowhere.'],
] as const)('explains why perch ask %j fails with %j', async (args, env, words) => {
  const { code, err } = await perch(openPlace(env), 'ask', 'one', ...args);

  expect(code).toBe(2);
  expect(err).toContain(words);
});

it('exits with 3 if the session file is damaged', async () => {
  const folder = temporaryFolder();
  writeFileSync(`${folder}/sessions.db`, 'this is no database'.repeat(100));

  const { code, err } = await ask(openPlace({ PERCH_DATA_DIR: folder }), 'new', 'one');

  expect(code).toBe(3);
  expect(err).toContain('sessions.db is damaged, or was not written by Perch.');
});
