import { describe, expect } from 'vitest';
import { sessionEvent } from '../../src/sessions/events.ts';
import { clause } from '../support/clause.ts';
import { answerTo, createScriptedEngine } from '../support/scripted-engine.ts';
import { buildSessionRig, lastAnswer, parseEvents, typesOf } from '../support/session-rig.ts';

const bearer = { authorization: 'Bearer any-token' };
const json = { 'content-type': 'application/json' };

/** Client that knows only `docs/contract/sessions.md`: it fetches and reads lines. */
async function askAsClient(rig: Awaited<ReturnType<typeof buildSessionRig>>, message: string) {
  const started = await rig.request('session', {
    method: 'POST',
    headers: { ...bearer, ...json },
    body: { message },
  });
  const { sessionId, continuationToken } = started.json();
  const read = async () => {
    const stream = await rig.request(`session/${sessionId}/stream`, { headers: bearer });
    let answer: unknown = null;
    for (const line of stream.body.split('\n')) {
      if (line.trim() === '') continue;
      const event = JSON.parse(line);
      if (event.type === 'message.completed') answer = event.data.message;
    }
    return answer;
  };
  const followUp = (next: string) =>
    rig.request(`session/${sessionId}`, {
      method: 'POST',
      headers: { ...bearer, ...json, 'x-continuation-token': continuationToken },
      body: { message: next },
    });
  return { started, sessionId, continuationToken, read, followUp };
}

describe('a client that follows the contract', () => {
  clause('session.what.answers_messages', 'session.endpoints.client_reads_line_by_line')(
    'asks, reads to the end of the response, and gets the answer',
    async () => {
      const rig = await buildSessionRig();

      const { read } = await askAsClient(rig, 'Where is the cursor documented?');

      expect(await read()).toBe(answerTo('Where is the cursor documented?').text);
    },
  );

  clause(
    'session.what.answer_is_last_completed',
    'session.endpoints.client_returns_last_completed',
    'session.events.last_completed_holds_answer',
  )('takes the last completed message as the answer', async () => {
    const rig = await buildSessionRig();
    const { read, followUp, sessionId } = await askAsClient(rig, 'one');
    await read();
    await followUp('two');

    expect(await read()).toBe(answerTo('two').text);
    const { body } = await rig.request(`session/${sessionId}/stream`, { headers: bearer });
    const completed = parseEvents(body).filter(({ type }) => type === 'message.completed');
    expect(completed).toHaveLength(2);
  });

  clause(
    'session.endpoints.follow_up_request',
    'session.endpoints.follow_up_continuation_header',
    'session.endpoints.follow_up_result',
  )('gets the session and its token again for a follow-up', async () => {
    const rig = await buildSessionRig();
    const { read, followUp, sessionId, continuationToken } = await askAsClient(rig, 'one');
    await read();

    const reply = await followUp('two');

    expect(reply.statusCode).toBe(202);
    expect(reply.json()).toEqual({
      ok: true,
      sessionId,
      continuationToken,
      status: 'accepted',
      deliveryId: expect.stringMatching(/^dlv_[0-9A-HJKMNP-TV-Z]{26}$/),
      queued: 0,
    });
  });

  clause('session.what.follow_up_same_session', 'session.resources.continuation_token_reused')(
    'continues the session with the token of the start response',
    async () => {
      const engine = createScriptedEngine();
      const rig = await buildSessionRig({ engine });
      const { read, followUp } = await askAsClient(rig, 'one');
      await read();

      for (const question of ['two', 'three']) {
        expect((await followUp(question)).statusCode).toBe(202);
        expect(await read()).toBe(answerTo(question).text);
      }
      expect(engine.asked.at(-1)?.earlier.map(({ question }) => question)).toEqual(['one', 'two']);
      expect(engine.asked.at(-1)?.earlier[1]).toEqual({
        question: 'two',
        answer: answerTo('two').text,
        citations: answerTo('two').citations,
      });
    },
  );

  clause(
    'session.what.start_returns_id_and_token',
    'session.resources.session_id',
    'session.resources.ok',
  )('gets an id, a token and `ok` for its first message', async () => {
    const rig = await buildSessionRig();

    const { started } = await askAsClient(rig, 'one');

    expect(started.json()).toEqual({
      sessionId: expect.stringMatching(/^ses_[0-9A-HJKMNP-TV-Z]{26}$/),
      continuationToken: expect.stringMatching(/^svct_[\w-]{43}$/),
      ok: true,
      status: 'accepted',
      deliveryId: expect.stringMatching(/^dlv_[0-9A-HJKMNP-TV-Z]{26}$/),
    });
  });

  clause('session.endpoints.start_request', 'session.endpoints.start_response')(
    'gets the location of the stream in headers',
    async () => {
      const rig = await buildSessionRig();

      const { started, sessionId } = await askAsClient(rig, 'one');

      expect(started.statusCode).toBe(202);
      expect(started.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'x-session-id': sessionId,
        'x-eve-session-id': sessionId,
        location: `/svc/v1/session/${sessionId}/stream`,
        'cache-control': 'no-store',
      });
    },
  );

  clause('session.resources.continuation_token_opaque')(
    'cannot read anything from a token or derive one from an id',
    async () => {
      const [one, other] = [await buildSessionRig(), await buildSessionRig()];
      const first = await one.start('same');
      const second = await one.start('same');

      expect(first.token).not.toBe(second.token);
      expect(first.token).not.toContain(first.id.slice(4));
      const foreign = await other.request(`session/${(await other.start()).id}`, {
        method: 'POST',
        headers: first.proof,
        body: { message: 'a' },
      });
      expect(foreign.statusCode).toBe(403);
    },
  );

  clause(
    'session.resources.message_required_on_start',
    'session.resources.message_required_on_follow_up',
  ).each([{}, { message: '' }, { message: null }, { question: 'a' }])(
    'must send a message: %j',
    async (body) => {
      const rig = await buildSessionRig();
      const session = await rig.start();
      await rig.read(session);

      const start = await rig.request('session', { method: 'POST', body });
      const followUp = await rig.request(`session/${session.id}`, {
        method: 'POST',
        headers: session.proof,
        body,
      });

      for (const reply of [start, followUp]) {
        expect([reply.statusCode, reply.json().code]).toEqual([400, 'missing_message']);
      }
      expect(await rig.read(session)).toHaveLength(9);
    },
  );
});

describe('the stream', () => {
  async function readStream() {
    const rig = await buildSessionRig();
    const session = await rig.start('line one\nline two\u2028line three\r\n');
    return rig.request(`session/${session.id}/stream`);
  }

  clause(
    'session.what.events_as_ndjson',
    'session.endpoints.stream_content_type',
    'session.endpoints.stream_one_event_per_line',
  )('is NDJSON with an event on each line', async () => {
    const { headers, body } = await readStream();

    expect(headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    expect(body.endsWith('\n')).toBe(true);
    expect(body.slice(0, -1).split('\n')).toHaveLength(9);
  });

  clause(
    'session.events.json_object_per_line',
    'session.events.each_has_type',
    'session.resources.event_type',
  )('has an object with a known type on each line', async () => {
    const { body } = await readStream();

    const known = sessionEvent.def.options.map((option) => option.shape.type.value);
    for (const line of body.slice(0, -1).split('\n')) {
      expect(known).toContain(JSON.parse(line).type);
    }
  });

  clause(
    'session.events.turn_started_first',
    'session.events.message_appended_follows',
    'session.events.message_completed_completes',
  )('has the event types of the contract in order', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start('one');

    const events = await rig.read(session);

    const shown = ['turn.started', 'message.appended', 'message.completed'];
    expect(typesOf(events).filter((type) => shown.includes(type))).toEqual(shown);
    const pieces = events.flatMap((event) =>
      event.type === 'message.appended' ? [event.data.messageDelta] : [],
    );
    expect(pieces.join('')).toBe(lastAnswer(events));
  });
});

describe('a bearer token', () => {
  clause(
    'session.auth.any_token_accepted',
    'session.auth.bearer_on_every_request',
    'session.auth.clients_still_send_token',
  ).each([
    { authorization: 'Bearer a' },
    { authorization: 'bearer   spaced' },
    { authorization: `BEARER ${'x'.repeat(4000)}` },
    { authorization: 'Bearer perch_not-a-key-of-the-read-service-at-all' },
    { authorization: 'Bearer ' },
    { authorization: 'Basic dXNlcjpwYXNz' },
    {},
  ])('is accepted with any value: %j', async (headers: Record<string, string>) => {
    const rig = await buildSessionRig();

    const session = await rig.start('one', headers);
    const stream = await rig.request(`session/${session.id}/stream`, { headers });
    const followUp = await rig.request(`session/${session.id}`, {
      method: 'POST',
      headers: { ...headers, ...session.proof },
      body: { message: 'two' },
    });
    const health = await rig.request('health', { headers });

    expect(parseEvents(stream.body)).toHaveLength(9);
    expect([followUp.statusCode, health.statusCode]).toEqual([202, 200]);
  });

  clause('session.auth.clients_still_send_token')(
    'is required in strict mode, on every route except health',
    async () => {
      const rig = await buildSessionRig({ env: { PERCH_SESSION_REQUIRE_BEARER: 'on' } });
      const { id, proof } = await rig.start('one', bearer);
      const ask = (path: string, method = 'POST', headers = {}) =>
        rig.request(path, {
          method,
          headers,
          ...(method === 'POST' ? { body: { message: 'a' } } : {}),
        });

      for (const headers of [{}, { authorization: 'Bearer ' }, { authorization: 'Basic x' }]) {
        for (const reply of [
          await ask('session', 'POST', headers),
          await ask(`session/${id}`, 'POST', { ...proof, ...headers }),
          await ask(`session/${id}/stream`, 'GET', headers),
          await ask(`session/${id}/cancel`, 'POST', headers),
          await ask(`session/${id}/reset`, 'POST', { ...proof, ...headers }),
        ]) {
          expect([reply.statusCode, reply.json().code]).toEqual([401, 'missing_bearer']);
          expect(reply.headers['www-authenticate']).toBe('Bearer');
        }
      }
      expect((await rig.request('health')).statusCode).toBe(200);
      expect((await rig.request('no-route')).statusCode).toBe(404);
      expect((await ask(`session/${id}/stream`, 'GET', bearer)).statusCode).toBe(200);
    },
  );

  clause('session.auth.clients_still_send_token')(
    'must be that of the starter if sessions are bound',
    async () => {
      const rig = await buildSessionRig({ env: { PERCH_SESSION_BIND_BEARER: 'true' } });
      const { id, proof } = await rig.start('one', bearer);
      const others = [{}, { authorization: 'Bearer another' }];

      for (const headers of others) {
        for (const path of ['', '/cancel', '/reset']) {
          const reply = await rig.request(`session/${id}${path}`, {
            method: 'POST',
            headers: { ...headers, ...proof },
            body: { message: 'a' },
          });
          expect([reply.statusCode, reply.json().code]).toEqual([403, 'session_forbidden']);
        }
        const stream = await rig.request(`session/${id}/stream`, { headers });
        expect([stream.statusCode, stream.json().code]).toEqual([403, 'session_forbidden']);
      }
      const own = await rig.request(`session/${id}/stream`, { headers: bearer });
      expect(own.statusCode).toBe(200);
    },
  );
});

describe('the version', () => {
  clause('session.versioning.path_prefix', 'session.endpoints.health')(
    'is in the path, whose health route replies with three members',
    async () => {
      const rig = await buildSessionRig();

      const reply = await rig.request('/svc/v1/health');
      const head = await rig.request('/svc/v1/health', { method: 'HEAD' });

      expect(reply.json()).toEqual({ ok: true, status: 'ready', workflowId: 'perch-session-1' });
      expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
      expect([head.statusCode, head.body]).toEqual([200, '']);
      expect((await rig.request('/svc/v2/health')).statusCode).toBe(404);
    },
  );
});
