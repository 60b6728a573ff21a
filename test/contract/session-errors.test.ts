import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { ProblemCode } from '../../src/lib/problem.ts';
import { createManualEngine, createScriptedEngine } from '../support/scripted-engine.ts';
import {
  buildSessionRig,
  itAlone,
  type SessionRequest,
  type SessionRig,
  type StartedSession,
  untilIdle,
} from '../support/session-rig.ts';

const post = { method: 'POST' } as const;
const unknown = 'ses_01KA3V9Z7T0123456789ABCDEF';
const badToken = { 'x-continuation-token': `svct_${'x'.repeat(43)}` };

/** A session in each state, and the requests that its state refuses. */
interface Sessions {
  readonly rig: SessionRig;
  readonly waiting: StartedSession;
  readonly ended: StartedSession;
  readonly purged: StartedSession;
}

async function openSessions(): Promise<Sessions> {
  const rig = await buildSessionRig({
    env: { PERCH_SESSION_RETENTION_SECONDS: '10', PERCH_SESSION_BODY_BYTES: '2048' },
  });
  const [purged, ended, waiting] = [await rig.start(), await rig.start(), await rig.start()];
  for (const session of [purged, ended, waiting]) await rig.read(session);
  await reset(rig, purged);
  await rig.clock.advance(20_000);
  await untilIdle();
  await reset(rig, ended);
  return { rig, waiting, ended, purged };
}

async function reset(rig: SessionRig, session: StartedSession): Promise<void> {
  await rig.request(`session/${session.id}/reset`, { ...post, headers: session.proof });
}

function expectProblem(reply: LightMyRequestResponse, status: number, code: ProblemCode): void {
  expect([reply.statusCode, reply.json().code]).toEqual([status, code]);
}

type Ask = (sessions: Sessions) => Promise<LightMyRequestResponse>;

type Row = readonly [what: string, status: number, code: ProblemCode, ask: Ask, known?: boolean];

/** Each code of `docs/contract/sessions.md#errors` that needs no special setting; `known`: the reply names the session. */
const rows: readonly Row[] = [
  ['a body that is empty', 400, 'invalid_body', ({ rig }) => rig.request('session', post)],
  ['a body that is not JSON', 400, 'invalid_body', ({ rig }) => start(rig, '{"message":')],
  ['a body that is an array', 400, 'invalid_body', ({ rig }) => start(rig, '["a"]')],
  ['a body that is null', 400, 'invalid_body', ({ rig }) => start(rig, 'null')],
  [
    'an unknown turnPolicy',
    400,
    'invalid_body',
    (s) => say(s, { message: 'a', turnPolicy: 'x' }),
    true,
  ],
  [
    'a token that is not a string',
    400,
    'invalid_body',
    (s) => say(s, { message: 'a', continuationToken: 1 }),
    true,
  ],
  ['no message', 400, 'missing_message', ({ rig }) => start(rig, {})],
  ['a message that is null', 400, 'missing_message', ({ rig }) => start(rig, { message: null })],
  ['a blank message', 400, 'missing_message', ({ rig }) => start(rig, { message: ' \n\t ' })],
  ['no parts', 400, 'missing_message', ({ rig }) => start(rig, { message: [] })],
  ['a follow-up without a message', 400, 'missing_message', (s) => say(s, {}), true],
  ['a number for a message', 400, 'invalid_message', ({ rig }) => start(rig, { message: 7 })],
  ['an object for a message', 400, 'invalid_message', ({ rig }) => start(rig, { message: {} })],
  [
    'a part that is not text',
    400,
    'invalid_message',
    ({ rig }) => start(rig, { message: [{ type: 'image', url: 'x' }] }),
  ],
  [
    'a part without text',
    400,
    'invalid_message',
    ({ rig }) => start(rig, { message: [{ type: 'text' }] }),
  ],
  [
    'a start index that is a word',
    400,
    'invalid_start_index',
    (s) => read(s, '?startIndex=first'),
    true,
  ],
  [
    'a start index that is a fraction',
    400,
    'invalid_start_index',
    (s) => read(s, '?startIndex=1.5'),
    true,
  ],
  ['a start index that is empty', 400, 'invalid_start_index', (s) => read(s, '?startIndex='), true],
  [
    'two start indexes',
    400,
    'invalid_start_index',
    (s) => read(s, '?startIndex=1&startIndex=2'),
    true,
  ],
  [
    'no token',
    400,
    'missing_continuation_token',
    ({ rig, waiting }) => rig.request(`session/${waiting.id}`, { ...post, body: { message: 'a' } }),
    true,
  ],
  [
    'an empty token',
    400,
    'missing_continuation_token',
    ({ rig, waiting }) =>
      rig.request(`session/${waiting.id}`, {
        ...post,
        headers: { 'x-continuation-token': '' },
        body: { message: 'a', continuationToken: '' },
      }),
    true,
  ],
  [
    'a reset without a token',
    400,
    'missing_continuation_token',
    ({ rig, waiting }) => rig.request(`session/${waiting.id}/reset`, post),
    true,
  ],
  [
    'two tokens',
    400,
    'conflicting_continuation_tokens',
    (s) => say(s, { message: 'a', continuationToken: 'svct_other' }),
    true,
  ],
  [
    'a wrong token in the header',
    403,
    'invalid_continuation_token',
    ({ rig, waiting }) =>
      rig.request(`session/${waiting.id}`, { ...post, headers: badToken, body: { message: 'a' } }),
    true,
  ],
  [
    'a wrong token in the body',
    403,
    'invalid_continuation_token',
    ({ rig, waiting }) =>
      rig.request(`session/${waiting.id}`, {
        ...post,
        body: { message: 'a', continuationToken: 'x' },
      }),
    true,
  ],
  [
    'the token of another session',
    403,
    'invalid_continuation_token',
    ({ rig, waiting, ended }) =>
      rig.request(`session/${waiting.id}`, {
        ...post,
        headers: ended.proof,
        body: { message: 'a' },
      }),
    true,
  ],
  [
    'a stream with a wrong token',
    403,
    'invalid_continuation_token',
    ({ rig, waiting }) => rig.request(`session/${waiting.id}/stream`, { headers: badToken }),
    true,
  ],
  [
    'a cancel with a wrong token',
    403,
    'invalid_continuation_token',
    ({ rig, waiting }) =>
      rig.request(`session/${waiting.id}/cancel`, { ...post, headers: badToken }),
    true,
  ],
  [
    'a reset with a wrong token',
    403,
    'invalid_continuation_token',
    ({ rig, waiting }) =>
      rig.request(`session/${waiting.id}/reset`, { ...post, headers: badToken }),
    true,
  ],
  [
    'a follow-up to an unknown session',
    404,
    'session_not_found',
    ({ rig }) => rig.request(`session/${unknown}`, { ...post, body: { message: 'a' } }),
  ],
  [
    'a stream of an unknown session',
    404,
    'session_not_found',
    ({ rig }) => rig.request(`session/${unknown}/stream`),
  ],
  [
    'a reset of an unknown session',
    404,
    'session_not_found',
    ({ rig }) => rig.request(`session/${unknown}/reset`, post),
  ],
  [
    'a session id with a slash in it',
    404,
    'session_not_found',
    ({ rig }) => rig.request('session/a%2Fb/stream'),
  ],
  [
    'a follow-up to an ended session',
    409,
    'session_not_active',
    ({ rig, ended }) => rig.say(ended, 'a'),
    true,
  ],
  [
    'a follow-up to an ended session without a token',
    409,
    'session_not_active',
    ({ rig, ended }) => rig.request(`session/${ended.id}`, { ...post, body: { message: 'a' } }),
    true,
  ],
  [
    'a follow-up to an ended session with a broken body',
    409,
    'session_not_active',
    ({ rig, ended }) => rig.request(`session/${ended.id}`, { ...post, body: '{' }),
    true,
  ],
  [
    'a follow-up to a purged session',
    410,
    'session_expired',
    ({ rig, purged }) => rig.say(purged, 'a'),
    true,
  ],
  [
    'a stream of a purged session',
    410,
    'session_expired',
    ({ rig, purged }) => rig.request(`session/${purged.id}/stream`),
    true,
  ],
  [
    'a reset of a purged session',
    410,
    'session_expired',
    ({ rig, purged }) =>
      rig.request(`session/${purged.id}/reset`, { ...post, headers: purged.proof }),
    true,
  ],
  [
    'a body over its limit',
    413,
    'payload_too_large',
    ({ rig }) => start(rig, { message: 'a', clientContext: 'x'.repeat(2048) }),
  ],
  [
    'a form',
    415,
    'unsupported_media_type',
    ({ rig }) =>
      rig.request('session', {
        ...post,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'message=a',
      }),
  ],
  [
    'plain text',
    415,
    'unsupported_media_type',
    (s) => say(s, { message: 'a' }, { 'content-type': 'text/plain' }),
    true,
  ],
  [
    'a cancel by a form',
    415,
    'unsupported_media_type',
    ({ rig, waiting }) =>
      rig.request(`session/${waiting.id}/cancel`, {
        ...post,
        headers: { 'content-type': 'text/plain' },
        body: '',
      }),
  ],
  [
    'an output schema',
    422,
    'unsupported_feature',
    ({ rig }) => start(rig, { message: 'a', outputSchema: {} }),
  ],
  [
    'responses to an input request',
    422,
    'unsupported_feature',
    (s) => say(s, { inputResponses: [] }),
    true,
  ],
];

function start(rig: SessionRig, body: unknown) {
  return rig.request('session', { ...post, body });
}

function say({ rig, waiting }: Sessions, body: object, headers: Record<string, string> = {}) {
  return rig.request(`session/${waiting.id}`, {
    ...post,
    headers: { ...waiting.proof, ...headers },
    body,
  });
}

function read({ rig, waiting }: Sessions, query: string) {
  return rig.request(`session/${waiting.id}/stream${query}`);
}

describe('the session service refuses', () => {
  it.each(rows.map((row) => ({ row })))('$row.0: $row.1 $row.2', async ({ row }) => {
    const [, status, code, ask, isKnown = false] = row;
    const sessions = await openSessions();

    const reply = await ask(sessions);

    expectProblem(reply, status, code);
    expect(reply.headers['x-session-id'] !== undefined).toBe(isKnown);
    expect(reply.json().detail).toMatch(/\.$/);
  });

  it('without writing secrets to a log at info level, or a session id to `instance`', async () => {
    const lines: string[] = [];
    const rig = await buildSessionRig({
      env: { PERCH_ACCESS_LOG: 'all' },
      onLog: (line) => lines.push(line),
    });
    const session = await rig.start('a secret question', {
      authorization: 'Bearer a-secret-bearer',
    });
    await rig.read(session);
    await rig.say(session, 'another secret question');
    const refused = await rig.request(`session/${session.id}/stream?startIndex=x`);

    expect(refused.json().instance).toBe('/svc/v1/session/ses_%E2%80%A6/stream?startIndex=x');
    expect(lines.length).toBeGreaterThan(3);
    const log = lines.join('\n');
    expect(log).toContain('/svc/v1/session/ses_%E2%80%A6/stream');
    for (const secret of [session.id, session.token, 'secret question', 'a-secret-bearer']) {
      expect(log).not.toContain(secret);
    }
  });

  it('a message over 65,536 bytes, and accepts one of that length', async () => {
    const rig = await buildSessionRig();

    const most = await start(rig, { message: 'é'.repeat(32_768) });
    const more = await start(rig, { message: `${'é'.repeat(32_768)}x` });

    expect(most.statusCode).toBe(202);
    expectProblem(more, 413, 'payload_too_large');
  });

  it('a body over 524,288 bytes, and accepts one of that length', async () => {
    const rig = await buildSessionRig();
    const bodyOf = (bytes: number) => {
      const body = JSON.stringify({ message: 'a', pad: '' });
      return body.replace('"pad":""', `"pad":"${'x'.repeat(bytes - body.length)}"`);
    };

    expect((await start(rig, bodyOf(524_288))).statusCode).toBe(202);
    expectProblem(await start(rig, bodyOf(524_289)), 413, 'payload_too_large');
  });

  it.each([
    ['members', (count: number) => Array.from({ length: count }, (_, at) => `"${at}":1`).join()],
    ['levels', (count: number) => `"pad":${'['.repeat(count)}${']'.repeat(count)}`],
  ])('a body with more than 75,000 delimiters, before it parses the %s', async (_name, write) => {
    const rig = await buildSessionRig();
    const bodyOf = (count: number) => `{"message":"a",${write(count)}}`;

    expect((await start(rig, bodyOf(30_000))).statusCode).toBe(202);
    expectProblem(await start(rig, bodyOf(75_000)), 413, 'payload_too_large');
  });

  it('a body that is not UTF-8', async () => {
    const rig = await buildSessionRig();

    const reply = await rig.app.server.inject({
      url: '/svc/v1/session',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      payload: Buffer.from([...Buffer.from('{"message":"'), 0xff, ...Buffer.from('"}')]),
    });

    expectProblem(reply, 400, 'invalid_body');
  });

  it('a message while a turn is in progress, with `turnPolicy` `reject`', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start();

    const refused = await rig.say(session, 'b', { turnPolicy: 'reject' });
    (await engine.next()).answer();
    await rig.read(session);
    const accepted = await rig.say(session, 'b', { turnPolicy: 'reject' });

    expectProblem(refused, 409, 'turn_in_progress');
    expect(accepted.statusCode).toBe(202);
  });

  it('the ninth queued message', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start('first');
    await engine.next();

    const queued: number[] = [];
    for (let n = 1; n <= 8; n += 1) queued.push((await rig.say(session, `q${n}`)).json().queued);
    const refused = await rig.say(session, 'q9');

    expect(queued).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expectProblem(refused, 429, 'turn_queue_full');
    expect(refused.headers['retry-after']).toBe('1');
  });

  itAlone.each([
    ['an anonymous caller', {}],
    ['a caller with a bearer token', { authorization: 'Bearer somebody' }],
  ])('too many starts by %s', async (_who, headers) => {
    const env = { PERCH_SESSION_STARTS_PER_MINUTE: '6', PERCH_SESSION_START_BURST: '3' };
    const rig = await buildSessionRig({ env });
    for (let n = 0; n < 3; n += 1) await rig.start('a', headers);

    const refused = await rig.request('session', { ...post, headers, body: { message: 'a' } });
    const other = { authorization: 'Bearer somebody else' };
    const startAs = (asked: SessionRequest) =>
      rig.request('session', { ...post, ...asked, body: { message: 'a' } });
    const disguised = await startAs({ headers: other });
    const elsewhere = await startAs({ headers, from: '127.0.0.2' });
    const others = await startAs({ headers: other, from: '127.0.0.3' });
    await rig.clock.advance(9999);
    const early = await rig.request('session', { ...post, headers, body: { message: 'a' } });
    await rig.clock.advance(1);
    const inTime = await rig.request('session', { ...post, headers, body: { message: 'a' } });

    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers['retry-after']).toBe('10');
    expectProblem(disguised, 429, 'rate_limited');
    expect(elsewhere.statusCode).toBe(202);
    expect(others.statusCode).toBe(202);
    expectProblem(early, 429, 'rate_limited');
    expect(early.headers['retry-after']).toBe('1');
    expect(inTime.statusCode).toBe(202);
  });

  it('a start if all sessions are running', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine, env: { PERCH_SESSION_LIVE: '1' } });
    await rig.start();

    const refused = await start(rig, { message: 'b' });

    expectProblem(refused, 503, 'overloaded');
    expect(refused.headers['retry-after']).toBe('1');
  });

  it('requests that need the engine before it is ready', async () => {
    const engine = createScriptedEngine();
    const rig = await buildSessionRig({ engine });
    const session = await rig.start();
    await rig.read(session);
    engine.isReady = false;

    for (const reply of [
      await rig.request('health'),
      await start(rig, { message: 'a' }),
      await rig.say(session, 'a'),
    ]) {
      expectProblem(reply, 503, 'not_ready');
      expect(reply.headers['retry-after']).toBe('2');
    }
    expect((await rig.request(`session/${session.id}/stream`)).statusCode).toBe(200);
  });

  itAlone('new work while it shuts down', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start();
    await rig.read(session);
    rig.app.startDraining();

    for (const reply of [
      await rig.request('health'),
      await start(rig, { message: 'a' }),
      await rig.say(session, 'a'),
    ]) {
      expectProblem(reply, 503, 'shutting_down');
      expect(reply.headers['retry-after']).toBe('1');
      expect(reply.headers.connection).toBe('close');
    }
    expect((await rig.request(`session/${session.id}/stream`)).statusCode).toBe(200);
  });

  it('a request on a defect, without details', async () => {
    const engine = createScriptedEngine();
    Object.defineProperty(engine, 'isReady', {
      get: () => {
        throw new Error('a secret of ours');
      },
    });
    const lines: string[] = [];
    const rig = await buildSessionRig({ engine, onLog: (line) => lines.push(line) });

    const reply = await start(rig, { message: 'a' });

    expectProblem(reply, 500, 'internal_error');
    expect(reply.body).not.toContain('secret');
    expect(lines.filter((line) => line.includes('a secret of ours'))).toHaveLength(1);
  });
});

describe('paths and methods', () => {
  it.each(['/svc/v1/session/%', '/svc/v1/session/%E0%A4%A/stream', '/svc/%zz'])(
    'with broken percent-encoding are refused: %s',
    async (path) => {
      const rig = await buildSessionRig();

      const reply = await rig.request(path, { headers: { origin: 'https://page.example' } });

      expectProblem(reply, 400, 'malformed_request');
      expect(reply.headers['access-control-allow-origin']).toBeUndefined();
    },
  );

  it.each([
    '/svc',
    '/svc/',
    '/svc/v1',
    '/svc/v1/',
    '/svc/v2/session',
    `/svc/v1/session/${unknown}/clear`,
    `/svc/v1/session/${unknown}/compact`,
    '/svc/v1/sessions',
    '/svc/status/20',
  ])('that are not routes return 404 for any method: %s', async (path) => {
    const rig = await buildSessionRig();

    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const reply = await rig.request(path, { method });
      expect(reply.statusCode, `${method} ${path}`).toBe(404);
      if (method !== 'HEAD') expectProblem(reply, 404, 'route_not_found');
    }
  });

  it.each([
    ['health', ['GET', 'HEAD']],
    ['session', ['POST']],
    [`session/${unknown}`, ['POST']],
    [`session/${unknown}/stream`, ['GET']],
    [`session/${unknown}/cancel`, ['POST']],
    [`session/${unknown}/reset`, ['POST']],
  ])('of %s answer %j', async (path, allow) => {
    const rig = await buildSessionRig();
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'];

    for (const method of methods.filter((name) => !allow.includes(name))) {
      const reply = await rig.request(path, {
        method,
        headers: { origin: 'http://localhost:5173', 'access-control-request-method': 'POST' },
      });
      expect(reply.statusCode, `${method} ${path}`).toBe(405);
      expect(reply.headers.allow).toBe(allow.join(', '));
      if (method !== 'HEAD') expectProblem(reply, 405, 'method_not_allowed');
    }
  });

  it('begin with the configured segment', async () => {
    const rig = await buildSessionRig({ env: { PERCH_SESSION_PREFIX: 'eve' } });

    expect((await rig.request('/eve/v1/health')).statusCode).toBe(200);
    const reply = await rig.request('/eve/v1/session', { ...post, body: { message: 'a' } });
    expect(reply.headers.location).toBe(`/eve/v1/session/${reply.json().sessionId}/stream`);
    expect((await rig.app.server.inject('/svc/v1/health')).statusCode).toBe(404);
  });

  it('do not exist if sessions are off', async () => {
    const rig = await buildSessionRig({ env: { PERCH_SESSIONS: 'off' } });

    const reply = await rig.app.server.inject('/svc/v1/health');

    expect(reply.json().code).toBe('route_not_found');
  });
});
