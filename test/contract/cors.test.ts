import type { LightMyRequestResponse } from 'fastify';
import { describe, expect } from 'vitest';
import { asAdmin, buildTestApp, shareTestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { browseRequests, postRequests } from '../support/row-requests.ts';
import { readSignals } from '../support/signals.ts';

const app = shareTestApp();
const origin = 'https://page.example';
const rows = [...browseRequests, ...postRequests];

/** Every public path, and whether it is a deprecated one. */
const publicUrls = [
  ...rows.map(({ url, row }) => ({ url, isAlias: row.surface === 'alias' })),
  { url: '/health/live', isAlias: false },
  { url: '/health/ready', isAlias: false },
  { url: '/api', isAlias: false },
];

/** Headers that pages of other origins must be able to read. */
const exposedAtLeast = [
  'deprecation',
  'sunset',
  'link',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'x-api-key-status',
  'x-source',
  'x-cache',
  'etag',
];

function expectOpen({ headers }: LightMyRequestResponse): void {
  expect(headers['access-control-allow-origin']).toBe('*');
  expect(headers['access-control-allow-credentials']).toBeUndefined();
  expect(readList(headers['access-control-expose-headers'])).toEqual(
    expect.arrayContaining(exposedAtLeast),
  );
  // The answer is the same for every origin, so that nothing need be kept apart by it.
  expect(readList(headers.vary)).not.toContain('origin');
}

function readList(value: unknown): readonly string[] {
  return String(value ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.trim());
}

function corsHeadersOf({ headers }: LightMyRequestResponse): readonly string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control-'));
}

describe('a page of another origin', () => {
  clause('read.discovery.cors_expose_headers').each([origin, 'null', 'http://localhost:5173'])(
    'can read every public reply: %s',
    async (from) => {
      const headers = { origin: from };
      for (const { url } of publicUrls) {
        for (const method of ['GET', 'HEAD']) {
          const reply = await app.request(url, { method, headers });
          expect([url, reply.statusCode]).toEqual([url, 200]);
          expectOpen(reply);
        }
      }
    },
  );

  clause('read.discovery.cors_expose_headers')(
    'can read a reply to a request with a cookie and a key',
    async () => {
      const app = await buildTestApp();
      const key = await app.createKey();
      for (const { url } of publicUrls) {
        expectOpen(await app.request(url, { headers: { origin, cookie: 'a=b', ...key.headers } }));
      }
    },
  );

  clause('read.discovery.cors_expose_headers')('can read a 304', async () => {
    for (const { url } of [...rows, { url: '/api' }]) {
      const reply = await app.request(url, { headers: { origin, 'if-none-match': '*' } });
      expect(reply.statusCode).toBe(304);
      expectOpen(reply);
    }
  });

  clause('read.discovery.cors_expose_headers').each([
    ['400', rows.map(({ url }) => `${url}&format=pdf`), {}],
    ['401', browseRequests.map(({ url }) => url), { headers: { authorization: 'Bearer x' } }],
    ['404', rows.flatMap(({ missingUrl }) => missingUrl ?? []), {}],
    ['405', publicUrls.map(({ url }) => url), { method: 'DELETE' }],
  ])('can read every problem: %s', async (code, urls, options) => {
    const own = 'headers' in options ? options.headers : {};
    for (const url of urls) {
      const reply = await app.request(url, { ...options, headers: { origin, ...own } });
      // oEmbed answers another format with 501, as its standard says.
      const expected = url.includes('/oembed') && code === '400' ? 501 : Number(code);
      expect([url, reply.statusCode]).toEqual([url, expected]);
      expectOpen(reply);
    }
  });

  clause('read.discovery.cors_expose_headers').each([
    '/no/route',
    '/api/v1',
    '/api/v2/posts',
    '/humans.txt',
    '/.well-known/x',
  ])('can read the 404 of %s', async (url) => {
    const app = await buildTestApp();
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
      const reply = await app.request(url, { method, headers: { origin } });
      expect(reply.statusCode).toBe(404);
      expectOpen(reply);
    }
  });

  clause('read.discovery.cors_expose_headers').each([
    '/api/v1/profiles/%E0%A4%A',
    '/%',
    '/ada.example/status/%zz',
    '/api/%ff',
  ])('can read the 400 of %s', async (url) => {
    const reply = await app.request(url, { headers: { origin } });

    expect([reply.statusCode, reply.json().code]).toEqual([400, 'malformed_request']);
    expectOpen(reply);
  });

  clause('read.discovery.cors_expose_headers').each([429, 503])(
    'can read Retry-After of %s',
    async (code) => {
      const load = { isHigh: false, close: () => undefined };
      const app = await buildTestApp({ load, env: { PERCH_PUBLIC_ALLOWANCE: '1' } });
      await app.request('/search?q=heron&platform=archive');
      load.isHigh = code === 503;

      const reply = await app.request('/search?q=heron&platform=archive&nocache=1', {
        headers: { origin },
      });

      expect(reply.statusCode).toBe(code);
      expect(reply.headers['retry-after']).toMatch(/^\d+$/);
      expectOpen(reply);
    },
  );
});

describe('a preflight', () => {
  const asked: readonly (readonly [string, Record<string, string>])[] = [
    ['GET', { 'access-control-request-method': 'GET' }],
    ['HEAD', { 'access-control-request-method': 'HEAD' }],
    [
      'GET with a key',
      {
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization,if-none-match',
      },
    ],
  ];
  clause('read.discovery.cors_expose_headers').each(asked)(
    'allows %s on every public route',
    async (_, preflight) => {
      for (const { url, isAlias } of publicUrls) {
        const headers = { origin, ...preflight };
        const reply = await app.request(url, { method: 'OPTIONS', headers });
        expect([url, reply.statusCode, reply.body]).toEqual([url, 204, '']);
        expect(reply.headers['access-control-allow-origin']).toBe('*');
        expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
        expect(readList(reply.headers['access-control-allow-methods'])).toEqual(['get', 'head']);
        const wanted = preflight['access-control-request-headers'];
        expect(reply.headers['access-control-allow-headers']).toBe(wanted);
        expect(Number(reply.headers['access-control-max-age'])).toBeGreaterThan(0);
        expect(readSignals(reply.headers) !== null).toBe(isAlias);
      }
    },
  );

  clause('read.discovery.cors_expose_headers')(
    'spends no allowance, and needs no valid key',
    async () => {
      const app = await buildTestApp({ env: { PERCH_PUBLIC_ALLOWANCE: '1' } });
      const headers = { origin, 'access-control-request-method': 'GET' };
      for (const { url } of browseRequests) {
        const replies = [
          await app.request(url, { method: 'OPTIONS', headers }),
          await app.request(url, {
            method: 'OPTIONS',
            headers: { ...headers, authorization: 'Bearer x' },
          }),
        ];
        expect(replies.map(({ statusCode }) => statusCode)).toEqual([204, 204]);
        expect(replies[0]?.headers.ratelimit).toBe('"public";r=1;t=60');
      }
    },
  );

  clause('read.discovery.cors_expose_headers').each([
    ['no origin', { 'access-control-request-method': 'GET' }],
    ['no method', { origin }],
    ['neither', {}],
  ] as const satisfies readonly (readonly [string, Record<string, string>])[])(
    'with %s is not a preflight: no route supports OPTIONS',
    async (_, headers) => {
      for (const { url, isAlias } of publicUrls) {
        const reply = await app.request(url, { method: 'OPTIONS', headers });
        expect([url, reply.json().code]).toEqual([url, 'method_not_allowed']);
        expect(reply.headers.allow).toBe('GET, HEAD');
        expect(readSignals(reply.headers) !== null).toBe(isAlias);
        expectOpen(reply);
      }
    },
  );

  clause('read.errors.route_not_found').each([
    '/no/route',
    '/api/v1/nothing',
    '/humans.txt',
    '/api/v2/search',
  ])('is rejected without a route: %s', async (url) => {
    const reply = await app.request(url, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'GET' },
    });

    expect([reply.statusCode, reply.json().code]).toEqual([404, 'route_not_found']);
  });
});

describe('the admin routes', () => {
  const urls = [
    '/api/admin/keys',
    '/api/admin/keys/abc',
    '/api/admin/keys/abc/rotate',
    '/api/admin',
  ];
  clause('read.discovery.admin_not_public').each([
    ...urls,
    '/api/admin/nothing',
    '/admin',
    '/admin/keys',
  ])('cannot be read by pages of other origins: %s', async (url) => {
    const app = await buildTestApp();
    const preflight = { origin, 'access-control-request-method': 'GET' };
    const asked = [
      ['GET', { origin }],
      ['GET', { origin, ...asAdmin }],
      ['DELETE', { origin, ...asAdmin }],
      ['OPTIONS', preflight],
      ['OPTIONS', { ...preflight, 'access-control-request-headers': 'authorization' }],
      ['OPTIONS', { ...preflight, ...asAdmin }],
    ] as const;

    for (const [method, headers] of asked) {
      const reply = await app.server.inject({ url, method, headers });
      expect([method, reply.statusCode, corsHeadersOf(reply)]).toEqual([method, 403, []]);
    }
  });
});
