import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { METHODS } from 'node:http';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/lib/clock.ts';
import { routes } from '../../src/routes/reads/routes.ts';
import { adminToken, asAdmin, buildTestApp, type TestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const keys = '/api/admin/keys';
const browse = '/api/v1/profiles/ada.example';
const json = { 'content-type': 'application/json' };

/** Every method that reaches a route. */
const methods = METHODS.filter((method) => method !== 'CONNECT');

function send(app: TestApp, method: string, url: string, body?: unknown) {
  const content = body === undefined ? {} : { payload: JSON.stringify(body) };
  const headers = body === undefined ? asAdmin : { ...asAdmin, ...json };
  return app.request(url, { method, headers, ...content });
}

const codeOf = (reply: LightMyRequestResponse) => [reply.statusCode, reply.json().code];

describe('a caller without the token', () => {
  clause(
    'read.discovery.admin_unauthorized',
    'read.errors.unauthorized',
    'read.auth.key_not_self_service',
  ).each([
    '/admin',
    '/admin/',
    '/admin/keys',
    '/admin/followers',
    '/admin/status/20',
    '/admin/a/b/c?d=e',
    '/%61dmin',
    '/api/admin',
    '/api/admin/',
    '/api/admin/unknown',
    keys,
    `${keys}/`,
    `${keys}/0123456789ab`,
    `${keys}/0123456789ab/rotate`,
    `${keys}/0123456789ab/unknown`,
  ])('gets 401 for every method at %s', async (url) => {
    const app = await buildTestApp();

    for (const method of methods) {
      const reply = await app.request(url, {
        method,
        // Nothing of the request is looked at but the token.
        headers: { 'content-type': 'text/weird' },
        payload: '{ broken',
      });
      expect([method, reply.statusCode]).toEqual([method, 401]);
      if (method !== 'HEAD') expect(reply.json().code).toBe('unauthorized');
    }
  });

  clause('read.discovery.admin_unauthorized', 'read.errors.unauthorized').each([
    ['no token', {}],
    ['another token', { authorization: `Bearer ${adminToken.replace('an-', 'no-')}` }],
    ['the beginning of the token', { authorization: `Bearer ${adminToken.slice(0, -1)}` }],
    ['more than the token', { authorization: `Bearer ${adminToken}x` }],
    ['the token in capitals', { authorization: `Bearer ${adminToken.toUpperCase()}` }],
    ['the token twice', { authorization: `Bearer ${adminToken}, Bearer ${adminToken}` }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['the token without a scheme', { authorization: adminToken }],
    ['another scheme', { authorization: `Token ${adminToken}` }],
    ['Basic', { authorization: `Basic ${Buffer.from(`admin:${adminToken}`).toString('base64')}` }],
    ['another header', { 'x-admin-token': adminToken, cookie: `token=${adminToken}` }],
    ['an endless token', { authorization: `Bearer ${adminToken}${'x'.repeat(5000)}` }],
  ])('gets the same 401 for %s', async (_, headers) => {
    const app = await buildTestApp();

    const reply = await app.request(`${keys}?token=${adminToken}`, { headers });

    expect(codeOf(reply)).toEqual([401, 'unauthorized']);
    expect(reply.json().detail).toBe('Only the operator of this server can use this route.');
    expect(reply.json().resolution).toContain('/openapi.json');
    expect(reply.body).not.toContain(adminToken);
  });

  clause('read.discovery.admin_unauthorized')(
    'gets 401 with two headers, although one is valid',
    async () => {
      const app = await buildTestApp();
      const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
      const right = `Authorization: Bearer ${adminToken}\r\n`;

      const answers = await Promise.all(
        [`${right}Authorization: Bearer x\r\n`, `Authorization: Bearer x\r\n${right}`, right].map(
          (lines) => startLine(Number(new URL(url).port), lines),
        ),
      );

      expect(answers).toEqual([
        'HTTP/1.1 401 Unauthorized',
        'HTTP/1.1 401 Unauthorized',
        'HTTP/1.1 200 OK',
      ]);
    },
  );

  clause('read.auth.agent_cannot_obtain_key')('has no access with an API key', async () => {
    const app = await buildTestApp();
    const { headers } = await app.createKey();

    for (const method of ['GET', 'POST']) {
      const reply = await app.request(keys, { method, headers });
      expect(codeOf(reply)).toEqual([401, 'unauthorized']);
    }
  });

  clause('read.discovery.admin_unauthorized')(
    'gets the same 401 if no token is configured',
    async () => {
      const configured = await buildTestApp();
      const bare = await buildTestApp({ env: { PERCH_ADMIN_TOKEN: '' } });
      const sent = [undefined, 'Bearer', 'Bearer undefined', asAdmin.authorization];

      for (const authorization of sent) {
        const headers = authorization === undefined ? {} : { authorization };
        const reply = await bare.request(keys, { headers });
        expect(codeOf(reply)).toEqual([401, 'unauthorized']);
        expect(reply.body).toBe((await configured.request(keys)).body);
      }
    },
  );
});

/** Asks for the keys over a socket and gives the first line of the answer. */
function startLine(port: number, headers: string): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(port, '127.0.0.1', () => {
      socket.write(
        `GET ${keys} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`,
      );
    });
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received.split('\r\n', 1)[0]));
  });
}

describe('the operator', () => {
  it.each(['/api/admin', '/api/admin/unknown', `${keys}/0123456789ab/unknown`])(
    'gets 404 for %s',
    async (url) => {
      const app = await buildTestApp();

      for (const method of methods.filter((name) => name !== 'HEAD')) {
        expect(codeOf(await app.request(url, { method, headers: asAdmin }))).toEqual([
          404,
          'route_not_found',
        ]);
      }
    },
  );

  it.each([
    [keys, 'GET, HEAD, POST'],
    [`${keys}/0123456789ab`, 'GET, HEAD, PATCH, DELETE'],
    [`${keys}/0123456789ab/rotate`, 'POST'],
  ])('gets 405 with the methods of %s', async (url, allow) => {
    const app = await buildTestApp();

    for (const method of methods.filter((name) => !allow.split(', ').includes(name))) {
      const reply = await app.request(url, { method, headers: asAdmin });
      expect([method, reply.statusCode, reply.headers.allow]).toEqual([method, 405, allow]);
    }
  });

  it('may write the scheme in any letter case', async () => {
    const app = await buildTestApp();

    const reply = await app.request(keys, { headers: { authorization: `bEaReR  ${adminToken}` } });

    expect(reply.json()).toEqual({ keys: [] });
  });

  it('gets 404 for an unknown key id', async () => {
    const app = await buildTestApp();
    const asked: readonly (readonly [string, string, unknown?])[] = [
      ['GET', `${keys}/no-such-key`],
      ['PATCH', `${keys}/no-such-key`, { enabled: false }],
      ['DELETE', `${keys}/no-such-key`],
      ['POST', `${keys}/no-such-key/rotate`],
    ];

    for (const [method, url, body] of asked) {
      const reply = await send(app, method, url, body);
      expect(codeOf(reply)).toEqual([404, 'not_found']);
      expect(reply.json().detail).toBe('There is no key with the id "no-such-key".');
    }
  });
});

describe('every reply', () => {
  it('cannot be read by pages of other origins', async () => {
    const app = await buildTestApp();
    const { id } = await app.createKey();
    const origin = { origin: 'https://example.org' };
    const preflight = { ...origin, 'access-control-request-method': 'POST' };

    const replies = [
      await app.request(keys, { headers: { ...asAdmin, ...origin } }),
      await app.request(keys, { method: 'HEAD', headers: { ...asAdmin, ...origin } }),
      await app.request(`${keys}/${id}`, { headers: { ...asAdmin, ...origin } }),
      await app.request(keys, { headers: origin }),
      await app.request(keys, { method: 'PUT', headers: { ...asAdmin, ...origin } }),
      await app.request('/api/admin/unknown', { headers: { ...asAdmin, ...origin } }),
      await app.request('/admin', { headers: origin }),
      await app.request(keys, { method: 'OPTIONS', headers: preflight }),
      await app.request('/api/admin/unknown', { method: 'OPTIONS', headers: preflight }),
      await app.request(keys, { method: 'OPTIONS', headers: { ...asAdmin, ...preflight } }),
    ];

    const named = replies.flatMap(({ headers }) => Object.keys(headers));
    expect(named.filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  it('must not be cached', async () => {
    const app = await buildTestApp();
    const made = await send(app, 'POST', keys, { label: 'x' });
    const url = `${keys}/${made.json().id}`;

    const replies = [
      made,
      await send(app, 'GET', keys),
      await send(app, 'GET', url),
      await send(app, 'PATCH', url, { enabled: false }),
      await send(app, 'POST', `${url}/rotate`),
      await send(app, 'DELETE', url),
      await app.request(keys),
    ];

    for (const { headers } of replies) expect(headers['cache-control']).toContain('no-store');
  });

  it('answers HEAD like GET, without the body', async () => {
    const app = await buildTestApp();
    const { id } = await app.createKey();

    for (const url of [keys, `${keys}/${id}`]) {
      const [get, head] = [await send(app, 'GET', url), await send(app, 'HEAD', url)];
      const { 'x-request-id': _one, date: _then, ...expected } = get.headers;
      expect(head.headers).toMatchObject(expected);
      expect([head.statusCode, head.body]).toEqual([200, '']);
    }
  });
});

describe('keys', () => {
  clause(
    'read.auth.key_created_in_admin_dashboard',
    'read.auth.key_shown_once',
    'read.key_moves.issue_shows_key_once',
  )('are created by the operator, and shown once', async () => {
    const app = await buildTestApp();

    const made = await send(app, 'POST', keys, {
      label: ' Ada ',
      allowance: 5,
      notes: 'issue 7',
    });
    const { key, ...record } = made.json();

    expect(made.statusCode).toBe(201);
    expect(key).toMatch(/^perch_[A-Za-z0-9_-]{43}$/);
    expect(record).toEqual({
      id: expect.stringMatching(/^[0-9a-f]+$/),
      label: 'Ada',
      enabled: true,
      allowance: 5,
      created_at: '2026-11-21T00:00:00Z',
      last_used_at: null,
      notes: 'issue 7',
    });
    expect(made.headers.location).toBe(`http://localhost:8080${keys}/${record.id}`);
    const [all, one] = [
      await send(app, 'GET', keys),
      await send(app, 'GET', `${keys}/${record.id}`),
    ];
    expect([all.json(), one.json()]).toEqual([{ keys: [record] }, record]);
    for (const { body } of [all, one]) expect(body).not.toContain(key);
  });

  clause('read.key_moves.issue_makes_active')('are valid from the next request on', async () => {
    const app = await buildTestApp();

    const { headers } = await app.createKey();
    const reply = await app.request(browse, { headers });

    expect([reply.statusCode, reply.headers['x-api-key-status']]).toEqual([200, 'valid']);
  });

  clause('read.key_moves.disable_rejects_immediately', 'read.auth.central_revocation')(
    'are invalid while they are disabled',
    async () => {
      const app = await buildTestApp();
      const { id, headers } = await app.createKey();
      expect((await app.request(browse, { headers })).statusCode).toBe(200);

      const disabled = await send(app, 'PATCH', `${keys}/${id}`, { enabled: false });
      const refused = await app.request(browse, { headers });
      await send(app, 'PATCH', `${keys}/${id}`, { enabled: true });
      const served = await app.request(browse, { headers });

      expect([disabled.statusCode, disabled.json().enabled]).toEqual([200, false]);
      expect(codeOf(refused)).toEqual([401, 'invalid_key']);
      expect(served.statusCode).toBe(200);
    },
  );

  clause('read.key_moves.delete_rejects_immediately', 'read.auth.central_revocation')(
    'are invalid as soon as they are deleted',
    async () => {
      const app = await buildTestApp();
      const { id, headers } = await app.createKey();
      expect((await app.request(browse, { headers })).statusCode).toBe(200);

      const deleted = await send(app, 'DELETE', `${keys}/${id}`);
      const refused = await app.request(browse, { headers });

      expect([deleted.statusCode, deleted.body]).toEqual([204, '']);
      expect(codeOf(refused)).toEqual([401, 'invalid_key']);
      expect((await send(app, 'DELETE', `${keys}/${id}`)).statusCode).toBe(404);
    },
  );

  clause('read.key_moves.rotation_rejects_old_key', 'read.auth.rotation_deletes_old_key')(
    'are replaced by a rotation, and invalid from then on',
    async () => {
      const app = await buildTestApp();
      const old = await app.createKey({ label: 'Ada', allowance: 5, notes: 'issue 7' });

      const rotated = await send(app, 'POST', `${keys}/${old.id}/rotate`);
      const { id, key, ...rest } = rotated.json();
      const [refused, served] = [
        await app.request(browse, { headers: old.headers }),
        await app.request(browse, { headers: { authorization: `Bearer ${key}` } }),
      ];

      expect([rotated.statusCode, rotated.headers.location]).toEqual([
        201,
        `http://localhost:8080${keys}/${id}`,
      ]);
      expect(rest).toMatchObject({ label: 'Ada', enabled: true, allowance: 5, notes: 'issue 7' });
      expect([id === old.id, key === old.key]).toEqual([false, false]);
      expect(codeOf(refused)).toEqual([401, 'invalid_key']);
      expect(served.headers['x-api-key-status']).toBe('valid');
      const left: readonly { id: string }[] = (await send(app, 'GET', keys)).json().keys;
      expect(left.map((one) => one.id)).toEqual([id]);
    },
  );

  it('keep the fields that a change omits', async () => {
    const app = await buildTestApp();
    const { id } = await app.createKey({ label: 'Ada', allowance: 5, notes: 'issue 7' });
    const kept = { label: 'Ada', enabled: true, allowance: 5, notes: 'issue 7' };

    for (const change of [
      { label: 'Bea' },
      { allowance: null },
      { notes: null },
      { enabled: false },
    ]) {
      Object.assign(kept, change);
      const reply = await send(app, 'PATCH', `${keys}/${id}`, change);
      expect([reply.statusCode, reply.json()]).toEqual([200, expect.objectContaining(kept)]);
    }
  });

  it('have the allowance that the operator sets', async () => {
    const app = await buildTestApp();
    const { id, headers } = await app.createKey({ allowance: 5 });
    const policy = async () => (await app.request(browse, { headers })).headers['ratelimit-policy'];

    const before = await policy();
    await send(app, 'PATCH', `${keys}/${id}`, { allowance: 7 });

    expect([before, await policy()]).toEqual(['"key";q=5;w=60', '"key";q=7;w=60']);
  });
});

describe('a body', () => {
  const posted: readonly (readonly [string, string, string, RegExp])[] = [
    ['', 'POST', 'invalid_body', /empty/],
    ['{ broken', 'POST', 'invalid_body', /not valid JSON/],
    ['{"label":"\xff"}', 'POST', 'invalid_body', /UTF-8/],
    ['null', 'POST', 'invalid_body', /null\. Send a JSON object/],
    ['[]', 'POST', 'invalid_body', /an array/],
    ['"label"', 'POST', 'invalid_body', /a string/],
    ['{}', 'POST', 'invalid_option', /`label` is missing.*`label`, `allowance` and `notes`/],
    ['{"label":""}', 'POST', 'invalid_option', /`label` is ""; it must not be empty/],
    ['{"label":"  "}', 'POST', 'invalid_option', /`label`.*must not be empty/],
    ['{"label":7}', 'POST', 'invalid_option', /`label` is 7; it must be a string/],
    ['{"label":null}', 'POST', 'invalid_option', /`label` is null; it must be a string/],
    ['{"label":{"a":1}}', 'POST', 'invalid_option', /`label` is a object|`label` is an object/],
    ['{"label":"a\\nb"}', 'POST', 'invalid_option', /`label` is "a\\nb"; it must be one line/],
    [
      `{"label":"${'x'.repeat(101)}"}`,
      'POST',
      'invalid_option',
      /`label`.*…; it must have at most 100/,
    ],
    ['{"label":"x","allowance":0}', 'POST', 'invalid_option', /`allowance` is 0; .*from 1 to/],
    ['{"label":"x","allowance":1.5}', 'POST', 'invalid_option', /`allowance` is 1.5; .*from 1 to/],
    ['{"label":"x","allowance":"5"}', 'POST', 'invalid_option', /`allowance` is "5"; .*from 1 to/],
    [
      '{"label":"x","allowance":1e99}',
      'POST',
      'invalid_option',
      /`allowance` is 1e\+99; .*from 1 to/,
    ],
    ['{"label":"x","notes":false}', 'POST', 'invalid_option', /`notes` is false; it must be/],
    ['{"label":"x","enabled":true}', 'POST', 'invalid_option', /"enabled" is unknown/],
    ['{"label":"x","key":"perch_x"}', 'POST', 'invalid_option', /"key" is unknown\. .*`notes`/],
    ['{"label":"x","__proto__":{}}', 'POST', 'invalid_option', /"__proto__" is unknown/],
    ['', 'PATCH', 'invalid_body', /empty/],
    ['{}', 'PATCH', 'invalid_body', /no fields\. .*`enabled`, `label`, `allowance` and `notes`/],
    ['{"enabled":"no"}', 'PATCH', 'invalid_option', /`enabled` is "no"; it must be true or false/],
    ['{"enabled":null}', 'PATCH', 'invalid_option', /`enabled` is null; it must be true or false/],
    ['{"id":"x"}', 'PATCH', 'invalid_option', /"id" is unknown/],
    ['{"label":null}', 'PATCH', 'invalid_option', /`label` is null/],
    ['{ broken', 'DELETE', 'invalid_body', /not valid JSON/],
    [
      '{"label":"x"}',
      'DELETE',
      'invalid_option',
      /"label" is unknown\. The body accepts no fields/,
    ],
  ];

  it.each(posted)('%j is rejected by %s with %s', async (payload, method, code, detail) => {
    const app = await buildTestApp();
    const { id } = await app.createKey({ label: 'Ada' });
    const url = method === 'POST' ? keys : `${keys}/${id}`;

    const reply = await app.server.inject({
      url,
      method: method as 'POST',
      headers: { ...asAdmin, ...json },
      payload: Buffer.from(payload, 'latin1'),
    });

    expect(codeOf(reply)).toEqual([400, code]);
    expect(reply.json().detail).toMatch(detail);
    expect(reply.json().detail.length).toBeLessThan(300);
    const left: readonly { label: string }[] = (await send(app, 'GET', keys)).json().keys;
    expect(left.map(({ label }) => label)).toEqual(['Ada']);
  });

  it('with fields is rejected by a rotation', async () => {
    const app = await buildTestApp();
    const { id } = await app.createKey();

    const reply = await send(app, 'POST', `${keys}/${id}/rotate`, { label: 'Bea' });

    expect(codeOf(reply)).toEqual([400, 'invalid_option']);
  });

  it.each([
    ['DELETE', '', 204],
    ['POST', '/rotate', 201],
  ])('may be empty for %s %s', async (method, path, status) => {
    const app = await buildTestApp();

    for (const payload of ['', '{}']) {
      const { id } = await app.createKey();
      const headers = { ...asAdmin, ...json };
      const reply = await app.request(`${keys}/${id}${path}`, { method, headers, payload });
      expect(reply.statusCode).toBe(status);
    }
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'nonsense',
    '',
  ])('of the type %j is rejected', async (type) => {
    const app = await buildTestApp();

    const reply = await app.request(keys, {
      method: 'POST',
      headers: { ...asAdmin, 'content-type': type },
      payload: '{"label":"x"}',
    });

    expect(codeOf(reply)).toEqual([415, 'unsupported_media_type']);
  });

  it.each([
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/merge-patch+json',
  ])('of the type %s is accepted', async (type) => {
    const app = await buildTestApp();

    const reply = await app.request(keys, {
      method: 'POST',
      headers: { ...asAdmin, 'content-type': type },
      payload: '{"label":"Zoë 🪶"}',
    });

    expect([reply.statusCode, reply.json().label]).toEqual([201, 'Zoë 🪶']);
  });

  it('is accepted up to 16 KiB', async () => {
    const app = await buildTestApp();
    const ask = (bytes: number) =>
      app.request(keys, {
        method: 'POST',
        headers: { ...asAdmin, ...json },
        payload: '{"label":"x"}'.padEnd(bytes),
      });

    expect((await ask(16_384)).statusCode).toBe(201);
    expect(codeOf(await ask(16_385))).toEqual([413, 'payload_too_large']);
  });
});

describe('a store that cannot be read', () => {
  clause('read.auth.unverified_soft_degradation')(
    'disables the admin routes but no reads',
    async () => {
      const folder = temporaryFolder();
      const app = await buildTestApp({ env: { PERCH_DATA_DIR: folder } });
      const { id, headers } = await app.createKey();
      for (const name of readdirSync(folder)) {
        if (name.startsWith('perch.db')) rmSync(join(folder, name));
      }
      mkdirSync(join(folder, 'perch.db'));
      const asked: readonly (readonly [string, string, unknown?])[] = [
        ['GET', keys],
        ['GET', `${keys}/${id}`],
        ['POST', keys, { label: 'Bea' }],
        ['PATCH', `${keys}/${id}`, { enabled: false }],
        ['POST', `${keys}/${id}/rotate`],
        ['DELETE', `${keys}/${id}`],
      ];

      for (const [method, url, body] of asked) {
        const reply = await send(app, method, url, body);
        expect(codeOf(reply)).toEqual([503, 'key_store_unavailable']);
        expect(reply.headers['retry-after']).toBe('1');
        expect(reply.body).not.toContain(folder);
      }
      const read = await app.request(browse, { headers });
      const stranger = await app.request(keys);

      expect([read.statusCode, read.headers['x-api-key-status']]).toEqual([200, 'unverified']);
      expect(codeOf(stranger)).toEqual([401, 'unauthorized']);
    },
  );
});

describe('failed attempts', () => {
  const wrong = { authorization: `Bearer ${'x'.repeat(40)}` };

  /** An app whose clock notes how long it is asked to sleep; `sleep` says what becomes of it. */
  async function buildSlowingApp(sleep: Clock['sleep'] = async () => undefined) {
    const manual = createManualClock();
    const slept: number[] = [];
    const clock: Clock = {
      now: manual.now,
      sleep: (ms, signal) => {
        slept.push(ms);
        return sleep(ms, signal);
      },
    };
    const app = await buildTestApp({ clock });
    const attempt = (headers: Record<string, string>, remoteAddress = '203.0.113.7') =>
      app.server.inject({ url: keys, headers, remoteAddress });
    return { app, slept, attempt, advance: manual.advance };
  }

  clause('read.discovery.admin_unauthorized')('get 401 after growing delays', async () => {
    const { attempt, slept } = await buildSlowingApp();

    for (let n = 0; n < 10; n += 1) {
      expect(codeOf(await attempt(wrong))).toEqual([401, 'unauthorized']);
    }

    expect(slept).toEqual([250, 500, 1000, 2000, 4000, 4000, 4000]);
  });

  it('count per client address', async () => {
    const { attempt, slept } = await buildSlowingApp();

    for (let n = 0; n < 4; n += 1) await attempt(wrong, '2001:db8::1');
    await attempt(wrong, '203.0.113.8');
    expect(slept).toEqual([250]);
    await attempt(wrong, '2001:db8::ffff:1');

    expect(slept).toEqual([250, 500]);
  });

  it('are forgotten after a minute without one', async () => {
    const { attempt, slept, advance } = await buildSlowingApp();
    for (let n = 0; n < 4; n += 1) await attempt(wrong);

    await advance(59_999);
    await attempt(wrong);
    await advance(60_000);
    for (let n = 0; n < 3; n += 1) await attempt(wrong);

    expect(slept).toEqual([250, 500]);
  });

  it('do not delay the operator at the same address', async () => {
    const { attempt, slept } = await buildSlowingApp();
    for (let n = 0; n < 5; n += 1) await attempt(wrong);

    const reply = await attempt(asAdmin);

    expect([reply.statusCode, slept]).toEqual([200, [250, 500]]);
  });

  it('do not include requests without a token', async () => {
    const { attempt, slept } = await buildSlowingApp();

    for (let n = 0; n < 10; n += 1) {
      expect((await attempt({})).statusCode).toBe(401);
      expect((await attempt({ authorization: 'Basic eDp4' })).statusCode).toBe(401);
    }

    expect(slept).toEqual([]);
  });

  it('count before they are answered, even if sent concurrently', async () => {
    const release: (() => void)[] = [];
    const { attempt, slept } = await buildSlowingApp(
      () => new Promise((resolve) => release.push(resolve)),
    );

    const attempts = Array.from({ length: 503 }, () => attempt(wrong));
    await expect.poll(() => slept).toHaveLength(500);
    const elsewhere = await attempt(wrong, '203.0.113.8');

    expect(slept.slice(0, 6)).toEqual([250, 500, 1000, 2000, 4000, 4000]);
    expect(elsewhere.statusCode).toBe(401);
    for (const wake of release) wake();
    const replies = await Promise.all(attempts);
    expect(replies.map(codeOf)).toEqual(Array(503).fill([401, 'unauthorized']));
  });

  it('stop waiting if the client disconnects', async () => {
    const left: unknown[] = [];
    const manual = createManualClock();
    const { app, slept } = await buildSlowingApp((ms, signal) =>
      manual.sleep(ms, signal).catch((reason) => {
        left.push(reason);
        throw reason;
      }),
    );
    const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
    const socket = createConnection(Number(new URL(url).port), '127.0.0.1');
    const request = `GET ${keys} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${wrong.authorization}\r\n\r\n`;

    socket.write(request.repeat(4));
    await expect.poll(() => slept).toEqual([250]);
    expect((await fetch(`${url}${keys}`)).status).toBe(401);
    expect(left).toEqual([]);
    socket.destroy();

    await expect.poll(() => left).toHaveLength(1);
  });

  it('are checked after a delay if a client of the address disconnected', async () => {
    const manual = createManualClock();
    const { app, slept } = await buildSlowingApp(manual.sleep);
    const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
    const ask = (headers: Record<string, string>) =>
      fetch(`${url}${keys}`, { headers: { ...headers, connection: 'close' } });
    for (let n = 0; n < 3; n += 1) await ask(wrong);
    const hungUp = new AbortController();
    const lost = fetch(`${url}${keys}`, { headers: wrong, signal: hungUp.signal });
    await expect.poll(() => slept).toEqual([250]);
    hungUp.abort();
    await expect(lost).rejects.toThrow();

    // The wrong token and the right one are told apart by nothing before the delay is over.
    const guesses = [ask(wrong), ask(asAdmin)];
    await expect.poll(() => slept).toHaveLength(3);
    const early = await Promise.race([...guesses, Promise.resolve('nothing yet')]);
    await manual.advance(1000);
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);

    expect(early).toBe('nothing yet');
    expect(slept).toEqual([250, 500, 1000]);
    expect(statuses.toSorted()).toEqual([200, 401]);
  });

  it('are checked after a delay while others of the address are delayed', async () => {
    const release: (() => void)[] = [];
    const { attempt, slept } = await buildSlowingApp(
      () => new Promise((resolve) => release.push(resolve)),
    );
    const attempts = Array.from({ length: 4 }, () => attempt(wrong));
    await expect.poll(() => slept).toEqual([250]);

    const operator = attempt(asAdmin);
    const elsewhere = await attempt(asAdmin, '203.0.113.8');
    await expect.poll(() => slept).toEqual([250, 500]);
    for (const wake of release) wake();

    expect(elsewhere.statusCode).toBe(200);
    expect((await operator).statusCode).toBe(200);
    expect((await Promise.all(attempts)).map(codeOf)).toEqual(Array(4).fill([401, 'unauthorized']));
  });

  it('are rejected if too many are delayed', async () => {
    const release: (() => void)[] = [];
    const { attempt, slept } = await buildSlowingApp(
      () => new Promise((resolve) => release.push(resolve)),
    );
    const attempts = Array.from({ length: 10_003 }, () => attempt(wrong));
    await expect.poll(() => slept).toHaveLength(10_000);

    const reply = await attempt(asAdmin);

    expect(codeOf(reply)).toEqual([503, 'overloaded']);
    for (const wake of release) wake();
    await Promise.all(attempts);
  });
});

describe('the public service', () => {
  clause('read.auth.key_not_self_service', 'read.auth.agent_cannot_obtain_key').each([
    ...routes.map(({ path }) => path),
    '/',
    '/api',
    '/api/keys',
    '/api/v1/keys',
    '/keys',
    '/register',
  ])('creates no key at %s', async (path) => {
    const app = await buildTestApp();
    const url = `${path.replaceAll(/\{handle\}/g, 'ada.example').replaceAll(/\{\w+\}/g, '1')}?q=heron`;

    for (const method of methods) {
      const reply = await app.request(url, {
        method,
        headers: json,
        payload: '{"label":"x","email":"a@example.org"}',
      });
      expect(reply.statusCode, method).not.toBe(201);
      expect(reply.body).not.toMatch(/perch_[A-Za-z0-9_-]{43}/);
    }

    expect((await send(app, 'GET', keys)).json()).toEqual({ keys: [] });
  });

  clause('read.discovery.admin_not_public')(
    'has no admin routes and does not describe any',
    async () => {
      const app = await buildTestApp();

      const api = await app.request('/api');
      const unknown = await app.request('/no/route');

      expect(routes.filter(({ path }) => path.includes('admin'))).toEqual([]);
      // The page for operators is public; their routes are not.
      for (const { body } of [api, unknown]) expect(body).not.toMatch(/api\/admin|"operator"/);
    },
  );
});

describe('the log', () => {
  clause('read.auth.key_shown_once')('contains no token and no key', async () => {
    const lines: string[] = [];
    const app = await buildTestApp({
      env: { PERCH_ACCESS_LOG: 'all', LOG_LEVEL: 'trace' },
      onLog: (line) => lines.push(line),
    });
    const { id, key, headers } = await app.createKey();
    const guess = `guess-${'x'.repeat(40)}`;

    await app.request(browse, { headers });
    await app.request(keys, { headers: { authorization: `Bearer ${guess}` } });
    await app.request(`${keys}/${key}?token=${adminToken}`, { headers: asAdmin });
    await send(app, 'PATCH', `${keys}/${id}`, { label: 7 });
    const rotated = await send(app, 'POST', `${keys}/${id}/rotate`);

    expect(lines.length).toBeGreaterThanOrEqual(6);
    for (const secret of [adminToken, guess, key, rotated.json().key]) {
      expect(lines.filter((line) => line.includes(secret))).toEqual([]);
    }
  });
});
