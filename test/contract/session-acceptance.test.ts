import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createManualEngine } from '../support/scripted-engine.ts';
import { buildSessionRig, lastAnswer, typesOf, untilIdle } from '../support/session-rig.ts';

const key = { 'idempotency-key': 'a-key-of-16-chars' };
const bearer = { authorization: 'Bearer somebody' };
const post = { method: 'POST' } as const;

describe('an Idempotency-Key', () => {
  it('executes a start once within a day, and repeats its reply', async () => {
    const rig = await buildSessionRig();
    const ask = { ...post, headers: { ...bearer, ...key }, body: { message: 'one' } };

    const first = await rig.request('session', ask);
    await rig.clock.advance(86_399_000);
    const second = await rig.request('session', ask);
    await rig.clock.advance(1000);
    const later = await rig.request('session', ask);

    expect(second.statusCode).toBe(202);
    expect(second.body).toBe(first.body);
    expect(second.headers.location).toBe(first.headers.location);
    expect(later.json().sessionId).not.toBe(first.json().sessionId);
  });

  it('executes a follow-up once, even if the session has ended since', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start('one', bearer);
    await rig.read(session);
    const ask = {
      ...post,
      headers: { ...bearer, ...key, ...session.proof },
      body: { message: 'two' },
    };

    const first = await rig.request(`session/${session.id}`, ask);
    const second = await rig.request(`session/${session.id}`, ask);
    await rig.read(session);
    await rig.request(`session/${session.id}/reset`, { ...post, headers: session.proof });
    const third = await rig.request(`session/${session.id}`, ask);
    const other = { ...ask, headers: { ...ask.headers, 'idempotency-key': 'another-key-of-it' } };
    const fourth = await rig.request(`session/${session.id}`, other);

    expect(first.statusCode).toBe(202);
    expect([second.body, third.body]).toEqual([first.body, first.body]);
    expect([fourth.statusCode, fourth.json().code]).toEqual([409, 'session_not_active']);
    const events = await rig.read(session);
    expect(typesOf(events).filter((type) => type === 'turn.started')).toHaveLength(2);
  });

  it('merges two concurrent requests into one', async () => {
    const rig = await buildSessionRig();
    const ask = { ...post, headers: { ...bearer, ...key }, body: { message: 'one' } };

    const [first, second] = await Promise.all([
      rig.request('session', ask),
      rig.request('session', ask),
    ]);

    expect(second.body).toBe(first.body);
  });

  it('is refused with another request', async () => {
    const rig = await buildSessionRig();
    const headers = { ...bearer, ...key };
    const session = await rig.start('one', headers);
    await rig.read(session);

    const otherBody = await rig.request('session', { ...post, headers, body: { message: 'two' } });
    const otherRoute = await rig.request(`session/${session.id}`, {
      ...post,
      headers: { ...headers, ...session.proof },
      body: { message: 'one' },
    });

    for (const reply of [otherBody, otherRoute]) {
      expect([reply.statusCode, reply.json().code]).toEqual([422, 'idempotency_conflict']);
    }
  });

  it.each([
    ['without a bearer token', {}, key],
    ['of another caller', { authorization: 'Bearer another' }, key],
    ['that is too short', bearer, { 'idempotency-key': 'fifteen-chars-x' }],
    ['that is too long', bearer, { 'idempotency-key': 'x'.repeat(256) }],
  ])('%s is ignored', async (_what, headers, ownKey) => {
    const rig = await buildSessionRig();
    await rig.start('one', { ...bearer, ...key });
    const ask = { ...post, headers: { ...headers, ...ownKey }, body: { message: 'one' } };

    const first = await rig.request('session', ask);
    const second = await rig.request('session', ask);

    const isOther = 'authorization' in headers && headers.authorization !== bearer.authorization;
    expect([first.statusCode, second.statusCode]).toEqual([202, 202]);
    expect(second.json().sessionId === first.json().sessionId).toBe(isOther);
  });

  it('is separate for each client address', async () => {
    const rig = await buildSessionRig({ env: { PERCH_TRUST_PROXY: 'loopback' } });
    const ask = (address: string) =>
      rig.request('session', {
        ...post,
        headers: { ...bearer, ...key, 'x-forwarded-for': address },
        body: { message: 'one' },
      });

    const [here, there] = [await ask('203.0.113.1'), await ask('203.0.113.2')];

    expect(there.json().sessionId).not.toBe(here.json().sessionId);
  });
});

const chunked = { 'transfer-encoding': 'chunked' };

describe('a body', () => {
  it.each([
    ['application/json; charset=utf-8'],
    ['application/json;charset=latin1'],
    ['APPLICATION/JSON'],
    ['application/vnd.eve.message+json; v=1'],
  ])('may have the type %s', async (type) => {
    const rig = await buildSessionRig();

    const reply = await rig.request('session', {
      ...post,
      headers: { 'content-type': type },
      body: { message: 'a', nonsense: 1, clientContext: { any: 'thing' }, continuationToken: 7 },
    });

    expect(reply.statusCode).toBe(202);
  });

  it('needs a type', async () => {
    const { app } = await buildSessionRig();
    const post = { url: '/svc/v1/session', method: 'POST' } as const;
    const text = '{"message":"a"}';

    const replies = [
      await app.server.inject({ ...post, payload: Buffer.from(text) }),
      await app.server.inject({ ...post, headers: chunked, payload: Readable.from([text]) }),
    ];

    for (const reply of replies) {
      expect(reply.json()).toMatchObject({
        status: 415,
        code: 'unsupported_media_type',
        detail: 'The header `Content-Type` is missing. It must be `application/json`.',
      });
    }
  });

  it('needs no type if it is empty', async () => {
    const { app } = await buildSessionRig();
    const post = { url: '/svc/v1/session', method: 'POST' } as const;

    const replies = [
      await app.server.inject(post),
      await app.server.inject({ ...post, headers: { 'content-length': '0' } }),
      await app.server.inject({ ...post, headers: chunked, payload: Readable.from([]) }),
    ];

    for (const reply of replies) expect(reply.json().code).toBe('invalid_body');
  });

  it('with a JSON type is read', async () => {
    const { app } = await buildSessionRig();

    const reply = await app.server.inject({
      url: '/svc/v1/session',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      payload: Buffer.from('{"message":"a"}'),
    });

    expect(reply.statusCode).toBe(202);
  });

  it('may contain the token, and the header may repeat it', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start();

    for (const headers of [{}, session.proof, { 'x-continuation-token': '' }]) {
      await rig.read(session);
      const reply = await rig.request(`session/${session.id}`, {
        ...post,
        headers,
        body: { message: 'a', continuationToken: session.token, turnPolicy: 'steer' },
      });
      expect(reply.statusCode).toBe(202);
    }
  });
});

describe('an optional token', () => {
  it('may be omitted from follow-ups and resets, but must not be wrong', async () => {
    const rig = await buildSessionRig({ env: { PERCH_SESSION_TOKEN: 'optional' } });
    const session = await rig.start();
    await rig.read(session);
    const say = (headers: Record<string, string>) =>
      rig.request(`session/${session.id}`, { ...post, headers, body: { message: 'two' } });

    expect((await say({})).statusCode).toBe(202);
    expect((await say({ 'x-continuation-token': 'wrong' })).statusCode).toBe(403);
    expect((await rig.request(`session/${session.id}/reset`, post)).json().status).toBe('reset');
  });
});

describe('sessions', () => {
  it('expire after a day without a message, and thirty days after their start', async () => {
    const engine = createManualEngine();
    const rig = await buildSessionRig({ engine });
    const idle = await rig.start('one');
    (await engine.next()).answer();
    await rig.read(idle);
    const running = await rig.start('two');
    const held = await engine.next();
    const lively = await rig.start('three');
    (await engine.next()).answer();

    const day = 86_400_000;
    for (let passed = 0; passed < 30; passed += 1) {
      await rig.read(lively);
      await rig.say(lively, 'more');
      (await engine.next()).answer();
      await rig.clock.advance(day - 20_000);
      await untilIdle();
      if (passed === 0) expect((await rig.say(idle, 'x')).statusCode).toBe(202);
      if (passed === 0) (await engine.next()).answer();
    }
    await rig.clock.advance(700_000);
    await untilIdle();

    expect((await rig.say(lively, 'x')).json().code).toBe('session_not_active');
    expect((await rig.read(lively)).at(-1)?.data).toEqual({ reason: 'expired' });
    // A running session does not expire; its turn has timed out on the first day.
    expect(held.signal.aborted).toBe(true);
    expect((await rig.request(`session/${idle.id}/stream`)).statusCode).toBe(410);
    expect((await rig.request(`session/${running.id}/stream`)).statusCode).toBe(410);
  });

  it('can be read for a day after their end, then return 410, then 404', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start();
    await rig.read(session);
    await rig.request(`session/${session.id}/reset`, { ...post, headers: session.proof });
    const statusAfter = async (ms: number) => {
      await rig.clock.advance(ms);
      await untilIdle();
      return (await rig.request(`session/${session.id}/stream`)).statusCode;
    };

    expect(await statusAfter(86_390_000)).toBe(200);
    expect(await statusAfter(10_000)).toBe(410);
    expect(await statusAfter(30 * 86_400_000 - 10_000)).toBe(410);
    expect(await statusAfter(20_000)).toBe(404);
  });

  it('are evicted for a new one at the limit, the one that has been idle longest first', async () => {
    const rig = await buildSessionRig({ env: { PERCH_SESSION_LIVE_PER_ADDRESS: '2' } });
    const [first, second] = [await rig.start('a'), await rig.start('b')];
    for (const session of [first, second]) await rig.read(session);
    await rig.clock.advance(1000);
    await rig.say(first, 'more');
    await rig.read(first);

    const third = await rig.start('c');

    expect((await rig.read(second)).at(-1)?.data).toEqual({ reason: 'evicted' });
    expect(lastAnswer(await rig.read(first))).toContain('“more”');
    expect(lastAnswer(await rig.read(third))).toContain('“c”');
  });
});

describe('pages of other origins', () => {
  const origin = 'https://page.example';
  const preflight = { origin, 'access-control-request-method': 'POST' };

  it('are refused by default', async () => {
    const rig = await buildSessionRig();
    const session = await rig.start();

    for (const reply of [
      await rig.request('health', { headers: { origin } }),
      await rig.request('session', { method: 'OPTIONS', headers: preflight }),
      await rig.request('session', { method: 'POST', headers: { origin }, body: {} }),
      await rig.request(`session/${session.id}/stream`, { headers: { origin } }),
      await rig.request('nothing', { headers: { origin } }),
    ]) {
      expect(reply.json()).toMatchObject({ status: 403, code: 'origin_not_allowed', ok: false });
      expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-'))).toEqual([]);
    }
  });

  it.each([
    ['https://page.example,https://other.example', origin, 'Origin'],
    ['*', '*', undefined],
  ])('are allowed with PERCH_SESSION_ORIGINS=%s', async (origins, allowed, vary) => {
    const rig = await buildSessionRig({ env: { PERCH_SESSION_ORIGINS: origins } });
    const session = await rig.start();
    const replies = [
      await rig.request('health', { headers: { origin } }),
      await rig.request(`session/${session.id}/stream`, { headers: { origin } }),
      await rig.request('session', { method: 'POST', headers: { origin }, body: {} }),
      await rig.request('session', { method: 'OPTIONS', headers: preflight }),
    ];

    for (const { headers } of replies) {
      expect(headers['access-control-allow-origin']).toBe(allowed);
      expect(headers['access-control-expose-headers']).toContain('X-Stream-Tail-Index');
      expect(headers.vary).toBe(vary);
    }
    expect(replies[3]?.statusCode).toBe(204);
    expect(replies[3]?.headers).toMatchObject({
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': expect.stringContaining(
        'X-Continuation-Token, Authorization',
      ),
    });
  });

  it('are refused if they are not listed', async () => {
    const rig = await buildSessionRig({ env: { PERCH_SESSION_ORIGINS: 'https://other.example' } });

    const { headers, statusCode } = await rig.request('health', { headers: { origin } });

    expect(statusCode).toBe(403);
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers.vary).toBe('Origin');
  });
});
