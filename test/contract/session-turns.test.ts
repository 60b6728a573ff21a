import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqlite } from '../../src/lib/files/sqlite.ts';
import { sessionMigrations } from '../../src/sessions/store/sqlite-schema.ts';
import { answerTo, createManualEngine, createScriptedEngine } from '../support/scripted-engine.ts';
import {
  buildSessionRig,
  itAlone,
  lastAnswer,
  type SessionRig,
  type StartedSession,
  typesOf,
  untilIdle,
} from '../support/session-rig.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const begun = ['turn.started', 'message.received', 'step.started'];
const failed = ['message.completed', 'step.failed', 'turn.failed', 'session.waiting'];

function cancel(rig: SessionRig, { id }: StartedSession, body?: object) {
  return rig.request(`session/${id}/cancel`, { method: 'POST', ...(body ? { body } : {}) });
}

function reset(rig: SessionRig, { id, proof }: StartedSession, body?: object) {
  return rig.request(`session/${id}/reset`, {
    method: 'POST',
    headers: proof,
    ...(body ? { body } : {}),
  });
}

function piecesOf(events: Awaited<ReturnType<SessionRig['read']>>) {
  return events.flatMap((event) => (event.type === 'message.appended' ? [event.data] : []));
}

describe('an answered turn', () => {
  it('has events for the question, the answer and the citations', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start('one');
    const waiting = await rig.start([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]);

    const [started, turn, received, step, appended, completed, ended, turnEnd, last] =
      await rig.read(session);

    const ids = { sequence: 0, turnId: 'turn_0' };
    const stepIds = { ...ids, stepIndex: 0 };
    const { text, citations } = answerTo('one');
    expect(started?.data).toEqual({
      runtime: { agentId: 'perch', agentName: 'Perch', eveVersion: 'none' },
    });
    expect(turn?.data).toEqual(ids);
    expect(received?.data).toEqual({
      message: 'one',
      parts: [{ type: 'text', text: 'one' }],
      ...ids,
    });
    expect(step?.data).toEqual({ modelId: 'perch/scripted', ...stepIds });
    expect(appended?.data).toEqual({ messageDelta: text, messageSoFar: text, ...stepIds });
    expect(completed?.data).toEqual({
      message: text,
      finishReason: 'stop',
      citations,
      abstained: false,
      ...stepIds,
    });
    expect(ended?.data).toEqual({ finishReason: 'stop', ...stepIds });
    expect(turnEnd?.data).toEqual(ids);
    expect(last?.data).toEqual({ wait: 'next-user-message', continuationToken: '' });
    expect((await rig.read(waiting))[2]).toMatchObject({ data: { message: 'a\nb' } });
  });

  it('may abstain', async () => {
    const engine = createScriptedEngine(async () =>
      answerTo('', { text: 'The documents do not say.', abstained: true, citations: [] }),
    );
    const rig = await buildSessionRig({ engine });

    const events = await rig.read(await rig.start());

    expect(typesOf(events).at(-2)).toBe('turn.completed');
    expect(events[5]?.data).toMatchObject({ abstained: true, citations: [], finishReason: 'stop' });
  });

  it('reports that the answer was truncated', async () => {
    const engine = createScriptedEngine(async () => answerTo('x', { finishReason: 'length' }));
    const rig = await buildSessionRig({ engine });

    const events = await rig.read(await rig.start());

    expect(events[5]?.data).toMatchObject({ finishReason: 'length' });
    expect(events[6]?.data).toMatchObject({ finishReason: 'length' });
  });

  it('truncates an endless answer', async () => {
    const engine = createScriptedEngine(
      (_question, { signal, onText }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          for (let n = 0; n < 1000; n += 1) onText('x'.repeat(1000));
        }),
    );
    const rig = await buildSessionRig({ engine });

    const events = await rig.read(await rig.start());

    const completed = events.find(({ type }) => type === 'message.completed');
    expect(completed?.data).toMatchObject({ finishReason: 'length' });
    expect(lastAnswer(events)?.length).toBe(262_144);
  });

  it('has its delivery id in every event from its start to `session.waiting`', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start('one');
    await rig.read(session);
    const second = (await rig.say(session, 'two')).json().deliveryId;

    const events = await rig.read(session);

    const first = Array.from({ length: 8 }, () => [session.deliveryId]);
    expect(events.map(({ meta }) => meta.deliveryIds)).toEqual([
      undefined,
      ...first,
      ...Array.from({ length: 8 }, () => [second]),
    ]);
  });
});

describe('a streaming turn', () => {
  it('buffers text until there is enough of it', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start();
    const held = await engine.next();
    const text = 'abcdefghij'.repeat(700);

    for (const letter of text) held.say(letter);
    held.answer(answerTo('', { text }));
    const pieces = piecesOf(await rig.read(session));

    expect(pieces.map(({ messageDelta }) => messageDelta).join('')).toBe(text);
    let soFar = '';
    for (const [index, { messageDelta, messageSoFar }] of pieces.entries()) {
      const least = Math.max(64, soFar.length / 16);
      if (index < pieces.length - 1) expect(messageDelta.length).toBeGreaterThanOrEqual(least);
      soFar += messageDelta;
      expect(messageSoFar).toBe(soFar);
    }
    const repeated = pieces.reduce((sum, { messageSoFar }) => sum + messageSoFar.length, 0);
    expect(repeated).toBeLessThan(17 * text.length);
  });

  it('buffers text for a quarter of a second at most', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start();
    const held = await engine.next();

    held.say('a');
    await rig.clock.advance(249);
    held.say('b');
    await rig.clock.advance(1);
    held.say('c');
    await rig.clock.advance(250);
    held.say('d');
    held.answer(answerTo('', { text: 'abcd' }));

    const pieces = piecesOf(await rig.read(session)).map(({ messageDelta }) => messageDelta);
    expect(pieces).toEqual(['ab', 'c', 'd']);
  });

  it('sends the rest of a partly streamed answer', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start();
    const held = await engine.next();

    held.say('x'.repeat(64));
    held.answer(answerTo('', { text: `${'x'.repeat(64)} and more` }));

    const pieces = piecesOf(await rig.read(session)).map(({ messageDelta }) => messageDelta);
    expect(pieces).toEqual(['x'.repeat(64), ' and more']);
  });

  it('has one piece even for an empty answer', async () => {
    const engine = createScriptedEngine(async () => answerTo('', { text: '' }));
    const rig = await buildSessionRig({ engine });

    const pieces = piecesOf(await rig.read(await rig.start()));

    expect(pieces).toMatchObject([{ messageDelta: '', messageSoFar: '' }]);
  });
});

describe('a turn that fails', () => {
  it('has a complete set of events, so that no client takes an earlier answer for its own', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start('one');
    (await engine.next()).answer();
    await rig.read(session);
    await rig.say(session, 'two');
    const held = await engine.next();
    held.say('x'.repeat(64));
    held.fail(new Error('a secret of the engine'));

    const events = await rig.read(session, '?startIndex=9');

    expect(typesOf(events)).toEqual([...begun, 'message.appended', ...failed]);
    expect(events[4]?.data).toMatchObject({
      finishReason: 'error',
      citations: [],
      abstained: false,
    });
    expect(events[5]?.data).toMatchObject({ code: 'answer_failed', stepIndex: 0 });
    expect(events[6]?.data).toMatchObject({ code: 'answer_failed', terminal: false });
    expect(JSON.stringify(events)).not.toContain('secret');
    expect(lastAnswer(events)).toMatch(/^The question could not be answered/);
  });

  it('fails after 120 seconds with `turn_timeout`, and the session continues', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start('one');
    const held = await engine.next();

    await rig.clock.advance(119_999);
    expect(held.signal.aborted).toBe(false);
    await rig.clock.advance(1);
    const events = await rig.read(session);
    await rig.say(session, 'two');
    (await engine.next()).answer();

    expect(held.signal.aborted).toBe(true);
    expect(typesOf(events)).toEqual(['session.started', ...begun, ...failed]);
    expect(events[6]?.data).toMatchObject({ code: 'turn_timeout', terminal: false });
    expect(lastAnswer(await rig.read(session))).toContain('“two”');
  });
});

describe('a session whose earlier turns cannot be read', () => {
  itAlone('fails with `session_damaged`, and ends', async () => {
    const folder = `${temporaryFolder()}/data`;
    const rig = await buildSessionRig({ env: { PERCH_DATA_DIR: folder } });
    const session = await rig.start('one');
    await rig.read(session);
    const path = `${folder}/sessions.db`;
    const database = openSqlite({ path, migrations: sessionMigrations });
    onTestFinished(() => void database.close());
    database.exec(
      `UPDATE events SET line = '{"half' WHERE line LIKE '{"type":"message.completed"%'`,
    );

    await rig.say(session, 'two');
    const events = await rig.read(session, '?startIndex=9');
    const refused = await rig.say(session, 'three');

    expect(typesOf(events)).toEqual([
      ...begun,
      'message.completed',
      'step.failed',
      'turn.failed',
      'session.failed',
    ]);
    expect(events[5]?.data).toMatchObject({ code: 'session_damaged', terminal: true });
    expect(events[6]?.data).toMatchObject({ code: 'session_damaged', sessionId: session.id });
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'session_not_active']);
  });
});

describe('cancelling', () => {
  it('ends the running turn, even if its engine continues', async () => {
    const engine = createScriptedEngine(() => new Promise(() => {}));
    const rig = await buildSessionRig({ engine });
    const session = await rig.start();
    await untilIdle();

    const reply = await cancel(rig, session);
    const events = await rig.read(session);

    expect(reply.statusCode).toBe(202);
    expect(reply.json()).toEqual({ ok: true, sessionId: session.id, status: 'accepted' });
    expect(typesOf(events)).toEqual([
      'session.started',
      ...begun,
      'turn.cancelled',
      'session.waiting',
    ]);
    expect(events[4]?.meta.deliveryIds).toEqual([session.deliveryId]);
  });

  it('keeps the text sent so far, and does not affect queued messages', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start('one');
    await rig.say(session, 'two');
    (await engine.next()).say('half');

    await cancel(rig, session, { turnId: 'turn_0' });
    (await engine.next()).answer();
    const events = await rig.read(session);

    expect(typesOf(events).slice(4, 7)).toEqual([
      'message.appended',
      'turn.cancelled',
      'session.waiting',
    ]);
    expect(lastAnswer(events)).toContain('“two”');
  });

  itAlone('ends a queued turn, because its session is running', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine, env: { PERCH_SESSION_TURNS_AT_ONCE: '1' } });
    await rig.start('busy');
    await engine.next();
    const session = await rig.start('one');
    await rig.say(session, 'two');

    await cancel(rig, session);
    const reading = rig.read(session);
    await untilIdle();
    await cancel(rig, session);

    expect(typesOf(await reading)).toEqual([
      'session.started',
      ...begun,
      'turn.cancelled',
      'session.waiting',
      ...begun,
      'turn.cancelled',
      'session.waiting',
    ]);
    expect(engine.asked).toHaveLength(1);
  });

  it.each([
    ['another turn', { turnId: 'turn_7' }],
    ['a queued turn', { turnId: 'turn_1' }],
  ])('has no effect with %s', async (_what, body) => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start('one');
    await rig.say(session, 'two');
    const held = await engine.next();

    const reply = await cancel(rig, session, body);
    held.answer();
    (await engine.next()).answer();

    expect(reply.json()).toEqual({ ok: true, sessionId: session.id, status: 'accepted' });
    expect(typesOf(await rig.read(session))).not.toContain('turn.cancelled');
  });

  it('has no effect if no turn is running', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start();
    const before = await rig.read(session);

    const reply = await cancel(rig, session);

    expect([reply.statusCode, reply.json().status]).toEqual([202, 'accepted']);
    expect(await rig.read(session)).toEqual(before);
  });

  it('is accepted for a session that is unknown or has ended', async () => {
    const rig = await buildSessionRig({ env: { PERCH_SESSION_RETENTION_SECONDS: '5' } });
    const session = await rig.start();
    await rig.read(session);
    const nobody = await rig.request('session/ses_nobody/cancel', { method: 'POST' });
    await reset(rig, session);
    const ended = await cancel(rig, session);
    await rig.clock.advance(10_000);
    await untilIdle();
    const purged = await cancel(rig, session);

    for (const reply of [nobody, ended, purged]) {
      expect(reply.statusCode).toBe(200);
      expect(reply.json()).toEqual({ ok: true, status: 'no_active_turn' });
    }
  });

  it('requires `turnId` to be a string', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start();

    const reply = await cancel(rig, session, { turnId: 1 });

    expect([reply.statusCode, reply.json().code]).toEqual([400, 'invalid_body']);
  });
});

describe('a reset', () => {
  it('ends a waiting session', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start();
    await rig.read(session);

    const reply = await reset(rig, session, { reason: 'done' });
    const again = await reset(rig, session);
    const events = await rig.read(session);

    expect([reply.statusCode, reply.json()]).toEqual([
      200,
      { ok: true, status: 'reset', previousSessionId: session.id },
    ]);
    expect([again.statusCode, again.json()]).toEqual([
      200,
      { ok: true, status: 'no_active_session' },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'session.completed', data: { reason: 'reset' } });
    expect(typesOf(events)).toHaveLength(10);
  });

  it('cancels the running turn and drops queued messages', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start('one');
    await rig.say(session, 'two');
    const held = await engine.next();
    const reading = rig.read(session);

    const reply = await rig.request(`session/${session.id}/reset`, {
      method: 'POST',
      body: { continuationToken: session.token },
    });

    expect(reply.json().status).toBe('reset');
    expect(typesOf(await reading)).toEqual([
      'session.started',
      ...begun,
      'turn.cancelled',
      'session.waiting',
      'session.completed',
    ]);
    expect(held.signal.aborted).toBe(true);
    expect(engine.asked).toHaveLength(1);
  });
});

describe('turns', () => {
  itAlone('run up to the limit, the others wait in the order of arrival', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine, env: { PERCH_SESSION_TURNS_AT_ONCE: '2' } });
    const first = await rig.start('a1');
    await rig.start('b1');
    await rig.say(first, 'a2');
    await rig.start('c1');
    await rig.start('d1');
    const [a1, b1] = [await engine.next(), await engine.next()];

    expect(engine.asked.map(({ text }) => text)).toEqual(['a1', 'b1']);
    a1.answer();
    const a2 = await engine.next();
    b1.answer();
    const c1 = await engine.next();
    a2.answer();
    await engine.next();
    c1.answer();

    expect(engine.asked.map(({ text }) => text)).toEqual(['a1', 'b1', 'a2', 'c1', 'd1']);
  });

  itAlone('wait until the engine is ready', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine, env: { PERCH_SESSION_TURNS_AT_ONCE: '1' } });
    await rig.start('one');
    const busy = await engine.next();
    const session = await rig.start('two');
    engine.isReady = false;
    busy.answer();
    await untilIdle();
    await rig.clock.advance(250);
    await untilIdle();
    expect(engine.asked).toHaveLength(1);

    engine.isReady = true;
    await rig.clock.advance(250);
    (await engine.next()).answer();

    expect(lastAnswer(await rig.read(session))).toContain('“two”');
  });

  it('are limited in number per session', async () => {
    const rig = await buildSessionRig({ env: { PERCH_SESSION_TURNS: '2' } });
    const session = await rig.start('one');
    await rig.read(session);
    await rig.say(session, 'two');

    const events = await rig.read(session);
    const refused = await rig.say(session, 'three');

    expect(typesOf(events).slice(-2)).toEqual(['session.waiting', 'session.completed']);
    expect(events.at(-1)?.data).toEqual({ reason: 'turn_limit' });
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'session_not_active']);
  });

  it('are limited by the bytes of a session', async () => {
    const engine = createScriptedEngine(async ({ text }) =>
      answerTo(text, { text: 'x'.repeat(40_000) }),
    );
    const rig = await buildSessionRig({
      engine,
      env: { PERCH_SESSION_BYTES_PER_SESSION: '200000' },
    });
    const session = await rig.start('one');
    await rig.read(session);
    await rig.say(session, 'two');

    const events = await rig.read(session);
    const refused = await rig.say(session, 'three');

    expect(events.at(-1)?.data).toEqual({ reason: 'turn_limit' });
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'session_not_active']);
  });

  it('fail if the storage of their address is full', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({
      engine,
      env: { PERCH_SESSION_BYTES_PER_ADDRESS: '1048576', PERCH_SESSION_TURNS_AT_ONCE: '1' },
    });
    const session = await rig.start('one');
    for (const message of ['two', 'three']) await rig.say(session, message);
    const long = answerTo('long', { text: 'x'.repeat(200_000) });
    for (let turn = 0; turn < 2; turn += 1) (await engine.next()).answer(long);

    const events = await rig.read(session);
    const refused = await rig.say(session, 'four');
    const other = await rig.request('session', {
      method: 'POST',
      body: { message: 'five' },
      from: '127.0.0.2',
    });

    const failures = events.flatMap((event) => (event.type === 'turn.failed' ? [event.data] : []));
    expect(failures).toMatchObject([{ code: 'storage_full', sequence: 2, terminal: false }]);
    expect(typesOf(events).slice(-7)).toEqual([...begun, ...failed]);
    expect([refused.statusCode, refused.json().code]).toEqual([503, 'overloaded']);
    expect(other.statusCode).toBe(202);
  });
});
