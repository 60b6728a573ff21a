import { describe, expect, it } from 'vitest';
import { createManualEngine } from '../support/scripted-engine.ts';
import {
  answeredTurn,
  buildSessionRig,
  itAlone,
  lastAnswer,
  parseEvents,
  type SessionRig,
  type StartedSession,
  typesOf,
  untilIdle,
} from '../support/session-rig.ts';

const turn = answeredTurn;

/** A session with two answered turns: 17 events. */
async function startTwoTurns(rig: SessionRig): Promise<StartedSession> {
  const session = await rig.start('one');
  await rig.read(session);
  await rig.say(session, 'two');
  await rig.read(session);
  return session;
}

describe('the stream of a session', () => {
  it('has the headers that clients look for', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start();
    await rig.read(session);

    const { headers } = await rig.request(`session/${session.id}/stream`);

    expect(headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-eve-session-id': session.id,
      'x-session-id': session.id,
      'x-eve-stream-version': '21',
      'x-stream-version': '21',
      'x-eve-stream-format': 'ndjson',
      'x-stream-format': 'ndjson',
      'x-eve-stream-tail-index': '8',
      'x-stream-tail-index': '8',
      'x-accel-buffering': 'no',
    });
    expect(headers['content-encoding']).toBeUndefined();
  });

  it('has every event once, in order, by its index', async () => {
    const rig = await buildSessionRig();
    const session = await startTwoTurns(rig);

    const events = await rig.read(session);

    expect(typesOf(events)).toEqual(['session.started', ...turn, ...turn]);
    expect(events.map(({ meta }) => meta.index)).toEqual(events.map((_, index) => index));
    expect(new Set(events.map(({ meta }) => meta.id)).size).toBe(17);
    for (const { meta } of events) {
      expect(meta.id).toMatch(/^evt_[0-9A-HJKMNP-TV-Z]{26}$/);
      expect(meta.at).toBe('2026-11-21T00:00:00.000Z');
    }
  });

  it('has the same bytes on every read, from every index', async () => {
    const rig = await buildSessionRig();
    const session = await startTwoTurns(rig);
    const { body } = await rig.request(`session/${session.id}/stream`);
    const lines = body.split('\n');
    expect(lines.pop()).toBe('');

    for (let from = 0; from <= lines.length; from += 1) {
      const url = `session/${session.id}/stream?startIndex=${from}`;
      const read = await rig.request(url);
      expect(read.body).toBe(
        lines
          .slice(from)
          .map((line) => `${line}\n`)
          .join(''),
      );
    }
  });

  it.each([
    ['?startIndex=0', 0],
    ['?startIndex=-0', 0],
    ['?startIndex=16', 16],
    ['?startIndex=17', 17],
    ['?startIndex=99999999999999999999999', 17],
    ['?startIndex=-1', 16],
    ['?startIndex=-17', 0],
    ['?startIndex=-18', 0],
    ['?startIndex=-99999999999999999999999', 0],
    ['?startIndex=%31', 1],
    ['?startIndex=007', 7],
    ['?startIndex=9&follow=false', 9],
    ['?startIndex=9&follow=0&streamControlVersion=1', 9],
    ['?startIndex=99&follow=false', 17],
    ['?includeTailIndex=1&nonsense=x&streamControlVersion=7', 0],
  ])('begins at the right event with %s', async (query, first) => {
    const rig = await buildSessionRig();
    const session = await startTwoTurns(rig);

    const events = await rig.read(session, query);

    expect(events.map(({ meta }) => meta.index)).toEqual(
      Array.from({ length: 17 - first }, (_, index) => first + index),
    );
  });

  it('begins with the next event if the index is beyond the tail', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start();
    const held = await engine.next();

    const reading = rig.read(session, '?startIndex=1000');
    await untilIdle();
    held.answer();

    expect((await reading).map(({ meta }) => meta.index)).toEqual([4, 5, 6, 7, 8]);
  });
});

describe('a stream in the automatic mode', () => {
  it('stays open exactly while turns are queued or running', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start('one');
    await rig.say(session, 'two');

    const reading = rig.read(session);
    (await engine.next()).answer();
    (await engine.next()).answer();
    const events = await reading;

    expect(typesOf(events)).toEqual(['session.started', ...turn, ...turn]);
    expect(lastAnswer(events)).toContain('“two”');
  });

  it('does not end at an earlier `session.waiting`', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start('one');
    (await engine.next()).answer();
    await rig.read(session);
    await rig.say(session, 'two');

    const reading = rig.read(session);
    (await engine.next()).answer();

    expect(lastAnswer(await reading)).toContain('“two”');
  });

  it('sends the history of an ended session, then ends', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start();
    await rig.read(session);
    await rig.request(`session/${session.id}/reset`, { method: 'POST', headers: session.proof });

    for (const query of ['', '?follow=true', '?follow=false', '?streamControlVersion=1']) {
      const events = await rig.read(session, query);
      expect(events.at(-1)).toMatchObject({ type: 'session.completed', data: { reason: 'reset' } });
    }
  });
});

describe('a stream that follows', () => {
  it('stays open while the session is idle, for 15 minutes', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start('one');
    await rig.read(session);

    const reading = rig.read(session, '?follow=true');
    await untilIdle();
    await rig.clock.advance(899_000);
    await rig.say(session, 'two');
    await untilIdle();
    await rig.clock.advance(1000);

    expect(typesOf(await reading)).toEqual(['session.started', ...turn, ...turn]);
  });

  it('ends with the session', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start();
    await rig.read(session);

    const reading = rig.read(session, '?follow=1&startIndex=9');
    await untilIdle();
    await rig.request(`session/${session.id}/reset`, { method: 'POST', headers: session.proof });

    expect(typesOf(await reading)).toEqual(['session.completed']);
  });

  it('is leased for a minute with `streamControlVersion=1`', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start();
    await rig.read(session);

    const reading = rig.request(
      `session/${session.id}/stream?streamControlVersion=1&startIndex=-1`,
    );
    await untilIdle();
    await rig.clock.advance(59_000);
    await rig.clock.advance(1000);
    const { body } = await reading;

    const lines = body.split('\n').map((line) => line.trim());
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[0] ?? '').type).toBe('session.waiting');
    expect(lines.slice(1)).toEqual(['{"$eve":"stream.lease-ended","version":1}', '']);
  });

  it('sends a space after every ten seconds without an event', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start();
    const held = await engine.next();

    const reading = rig.request(`session/${session.id}/stream`);
    await untilIdle();
    await rig.clock.advance(9000);
    await rig.clock.advance(1000);
    await untilIdle();
    await rig.clock.advance(10_000);
    await untilIdle();
    held.answer();
    const { body } = await reading;

    expect(body.match(/ +(?=\{"type")/g)).toEqual(['  ']);
    expect(body).not.toMatch(/\n\s*\n/);
    expect(parseEvents(body)).toHaveLength(9);
    for (const line of body.split('\n').filter((one) => one !== '')) JSON.parse(line);
  });

  it('reports that the session has expired', async () => {
    const rig = await buildSessionRig({ env: { PERCH_SESSION_IDLE_SECONDS: '100' } });
    const session = await rig.start();
    await rig.read(session);

    const reading = rig.read(session, '?follow=true&startIndex=9');
    await untilIdle();
    await rig.clock.advance(99_000);
    await untilIdle();
    await rig.clock.advance(10_000);
    const [event, ...more] = await reading;

    expect(event).toMatchObject({ type: 'session.completed', data: { reason: 'expired' } });
    expect(more).toEqual([]);
  });
});

describe('the token in a stream', () => {
  const tokenOf = (events: Awaited<ReturnType<SessionRig['read']>>) =>
    events.flatMap((event) =>
      event.type === 'session.waiting' ? [event.data.continuationToken] : [],
    );

  it('is present only if the request contained the token', async () => {
    const rig = await buildSessionRig();
    const session = await startTwoTurns(rig);
    const read = async (headers: Record<string, string>, query = '') =>
      parseEvents((await rig.request(`session/${session.id}/stream${query}`, { headers })).body);

    expect(tokenOf(await read({}))).toEqual(['', '']);
    expect(tokenOf(await read(session.proof))).toEqual([session.token, session.token]);
    expect(tokenOf(await read(session.proof, '?startIndex=12&follow=false'))).toEqual([
      session.token,
    ]);
    expect(tokenOf(await read({ 'x-continuation-token': '' }))).toEqual(['', '']);
  });

  it('is set separately for concurrent readers of the same events', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start();
    const held = await engine.next();

    const proven = rig.request(`session/${session.id}/stream`, { headers: session.proof });
    const others = [rig.read(session), rig.read(session)];
    await untilIdle();
    held.answer();

    expect(tokenOf(parseEvents((await proven).body))).toEqual([session.token]);
    expect((await Promise.all(others)).map(tokenOf)).toEqual([[''], ['']]);
  });

  it('is not inserted into text of callers', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start('{"type":"session.waiting","continuationToken":""}');
    await rig.read(session);

    const { body } = await rig.request(`session/${session.id}/stream`, { headers: session.proof });

    expect(body.split(session.token)).toHaveLength(2);
  });

  it('is present for every reader with PERCH_SESSION_STREAM_TOKEN=always', async () => {
    const rig = await buildSessionRig({ env: { PERCH_SESSION_STREAM_TOKEN: 'always' } });
    const session = await rig.start();

    expect(tokenOf(await rig.read(session))).toEqual([session.token]);
  });
});

describe('the streams of a server', () => {
  itAlone.each([
    ['PERCH_SESSION_STREAMS_PER_SESSION', 'of this session', 0],
    ['PERCH_SESSION_STREAMS', 'of all sessions', 1],
  ])('are limited by %s', async (name, detail, counted) => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine, env: { [name]: '2', PERCH_METRICS: 'open' } });
    const session = await rig.start();
    const held = await engine.next();

    const readFrom = (from: string) => rig.request(`session/${session.id}/stream`, { from });
    const reading = [readFrom('127.0.0.2'), readFrom('127.0.0.3')];
    await untilIdle();
    const refused = await readFrom('127.0.0.4');
    held.answer();
    await Promise.all(reading);
    const later = await rig.request(`session/${session.id}/stream`);

    expect([refused.statusCode, refused.json().code]).toEqual([503, 'overloaded']);
    expect(refused.json().detail).toContain(detail);
    expect(refused.headers['retry-after']).toBe('1');
    expect(later.statusCode).toBe(200);
    const metrics = await rig.app.server.inject({ url: '/metrics' });
    expect(metrics.body).toContain(`perch_holds_refused_total{holding="streams"} ${counted}\n`);
  });
});
