import { describe, expect } from 'vitest';
import { type ProblemCode, problemKinds } from '../../src/lib/problem.ts';
import { ProviderError, type ProviderErrorKind } from '../../src/normalize/provider-error.ts';
import { buildTestApp, shareTestApps, xOnly } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { createStubProvider, stubFound } from '../support/stub-provider.ts';

const sharedApp = shareTestApps();
const app = sharedApp();

const good = '/api/v1/posts?handle=ada.example&id=1900000000000000001';
const x = '/api/v1/posts?url=https://x.com/jack/status/20';

/** Bad requests, each with the code that a client can switch on and what the detail must name. */
const bad: readonly (readonly [string, ProblemCode, string?])[] = [
  ['/api/v1/posts', 'missing_url', '`url`'],
  ['/api/v1/posts?url=', 'missing_url', '`url`'],
  ['/api/v1/posts?url=%20%20', 'missing_url', '`url`'],
  ['/api/v1/posts?format=json', 'missing_url', '`url`'],
  ['/api/v1/posts?url=nonsense', 'invalid_url', '"nonsense"'],
  ['/api/v1/posts?url=%E0%A4%A', 'invalid_url', '`url`'],
  ['/api/v1/posts?url=https://x.com/jack/status/20%00', 'invalid_url'],
  [
    '/api/v1/posts?url=https://user:pw@x.com/jack/status/20',
    'invalid_url',
    'user name or password',
  ],
  ['/api/v1/posts?url=https://x.com:99/jack/status/20', 'invalid_url', 'port'],
  [
    '/api/v1/posts?url=https://www.tiktok.com/@jack/video/20',
    'unsupported_host',
    '"www.tiktok.com"',
  ],
  ['/api/v1/posts?url=https://x.com.evil.example/jack/status/20', 'unsupported_host'],
  ['/api/v1/posts?url=https://169.254.169.254/@a/1', 'unsupported_host'],
  ['/api/v1/posts?url=https://x.com/jack', 'invalid_path', 'not the URL of a post'],
  ['/api/v1/posts?url=https://x.com/jack/status/0', 'invalid_path'],
  ['/api/v1/posts?handle=jack', 'invalid_params', '`id`'],
  ['/api/v1/posts?id=20', 'invalid_params', '`handle`'],
  ['/api/v1/posts?handle=&id=20', 'invalid_params', '`handle`'],
  ['/api/v1/posts?handle=jack&id=', 'invalid_params', '`id`'],
  ['/api/v1/posts?handle=ja%20ck&id=20', 'invalid_params', '"ja ck"'],
  ['/api/v1/posts?handle=jack%2F..&id=20', 'invalid_params'],
  ['/api/v1/posts?handle=jack&id=0', 'invalid_params', '"0"'],
  ['/api/v1/posts?handle=jack&id=-1', 'invalid_params'],
  ['/api/v1/posts?handle=jack&id=2%200', 'invalid_params'],
  ['/api/v1/posts?handle=jack&id=20%00', 'invalid_params', '\\u0000'],
  [`/api/v1/posts?handle=jack&id=${'9'.repeat(30)}`, 'invalid_params'],
  [`/api/v1/posts?handle=${'a'.repeat(5000)}&id=20`, 'invalid_params', '…'],
  [`${good}&format=xml`, 'invalid_format', '`format`'],
  [`${good}&format=`, 'invalid_format', '""'],
  [`${good}&thread=1`, 'invalid_thread', '2 to 100'],
  [`${good}&thread=101`, 'invalid_thread'],
  [`${good}&thread=2.5`, 'invalid_thread'],
  [`${good}&thread=all`, 'invalid_thread', '"all"'],
  [`${good}&context=none`, 'invalid_context', '`context`'],
  [`${good}&replies=best`, 'invalid_replies', '`replies`'],
  [`${good}&userinfo=yes`, 'invalid_userinfo', '`userinfo`'],
  [`${good}&full=maybe`, 'invalid_option', '`full`'],
  [`${good}&full=`, 'invalid_option', '`full`'],
  [`${good}&nocache=2`, 'invalid_option', '`nocache`'],
  [`${good}&format=json&format=json`, 'invalid_option', '`format`'],
  [`${good}&id=1900000000000000001`, 'invalid_option', '`id`'],
  [`${x}&url=https://x.com/jack/status/20`, 'invalid_option', '`url`'],
  ['/jack/status/x', 'invalid_params', '"x"'],
  ['/jack/status/0', 'invalid_params'],
  ['/jack/status/-20', 'invalid_params'],
  ['/ja!ck/status/20', 'invalid_params', '`handle`'],
  ['/ada.example%2Fx/status/20', 'invalid_params'],
  [`/jack/status/${'9'.repeat(500)}`, 'invalid_params'],
  ['/jack/status/20?thread=0', 'invalid_thread'],
  ['/anna@mastodon.social/status/1', 'unsupported_platform'],
  ['/alice.bsky.social/status/3k', 'unsupported_platform'],
  ['/api/v1/posts?url=https://bsky.app/profile/a.bsky.social/post/3k', 'unsupported_platform'],
  ['/api/v1/posts?url=https://mastodon.social/@anna/1', 'unsupported_platform'],
  ['/%E0%A4%A/status/20', 'malformed_request', 'percent-encoding'],
  ['/jack/status/%', 'malformed_request'],
  ['/ada.example/status/1900000000000000999', 'not_found'],
  ['/nobody.example/status/1', 'not_found'],
  ['/no/route', 'route_not_found', '"/no/route"'],
  ['/api/v1/post', 'route_not_found'],
  ['//api/v1/post/', 'route_not_found', '"/api/v1/post"'],
  ['/api/v2/posts', 'route_not_found'],
  ['/jack/likes', 'route_not_found'],
  ['/api/status/20', 'route_not_found'],
  ['/docs/status/20', 'route_not_found'],
  ['/MCP/status/20', 'route_not_found'],
  ['/favicon.ico/status/20', 'route_not_found'],
  ['/jack/status/20/?thread=0', 'invalid_thread'],
  [`/api/v1/posts?url=${'a'.repeat(9000)}`, 'uri_too_long', '8192'],
];

clause(
  'read.problem.member_code',
  'read.problem.member_resolution',
  'read.errors.problem_documents',
).each(bad)('bad input answers %s with %s', async (url, code, names = '') => {
  const app = sharedApp({ env: xOnly });

  const reply = await app.request(url);

  expect(reply.json().code).toBe(code);
  expect(reply.json().detail).toContain(names);
  expect(reply.json().detail.length).toBeLessThan(300);
});

describe('methods', () => {
  clause('read.endpoints.public_routes_get').each([
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
  ])('answers %s with 405 and Allow', async (method) => {
    for (const url of ['/api/v1/posts', '/ada.example/status/1', '/health/ready']) {
      const reply = await app.request(url, {
        method,
        headers: { 'content-type': 'application/json' },
        payload: '{ broken',
      });
      expect(reply.json().code).toBe('method_not_allowed');
      expect(reply.headers.allow).toBe('GET, HEAD');
    }
  });

  clause('read.errors.route_not_found')(
    'answers any method and body with 404 without a route',
    async () => {
      const app = await buildTestApp();

      for (const type of ['text/weird', 'application/json']) {
        const reply = await app.request('/no/route', {
          method: 'POST',
          headers: { 'content-type': type },
          payload: '{ broken',
        });
        expect(reply.json().code).toBe('route_not_found');
      }
    },
  );
});

describe('the members of a problem document', () => {
  clause('read.problem.member_resolution')('contains the request without its secrets', async () => {
    const reply = await app.request(`/no/route?api_key=abc&q=perch_${'secret1'.repeat(6)}x&x=1`);

    expect(reply.json()).toMatchObject({
      type: 'http://localhost:8080/docs/errors#route_not_found',
      title: 'No such route',
      status: 404,
      instance: expect.stringMatching(/^\/no\/route\?api_key=%E2%80%A6&q=perch_%E2%80%A6&x=1$/),
      resolution: problemKinds.route_not_found.resolution,
    });
    expect(reply.body).not.toContain('secret1');
  });

  clause('read.problem.media_type')('does not depend on Accept', async () => {
    const replies = await Promise.all(
      ['text/html', 'application/json', 'text/markdown', 'image/png;q=0'].map((accept) =>
        app.request('/api/no/route', { headers: { accept } }),
      ),
    );

    expect(new Set(replies.map(({ body }) => body)).size).toBe(1);
  });

  clause('read.errors.problem_documents')(
    'reports an unexpected error only by its request id',
    async () => {
      const lines: string[] = [];
      const provider = createStubProvider('stub', async () =>
        // Breaks the contract of providers, so that the read fails over it.
        stubFound(null as never),
      );
      const app = await buildTestApp({ providers: [provider], onLog: (line) => lines.push(line) });

      const reply = await app.request('/jack/status/20');

      expect(reply.json()).toMatchObject({
        code: 'internal_error',
        detail: 'An unexpected error occurred.',
      });
      const defects = lines.filter((line) => line.includes('Unexpected error while answering'));
      expect(defects).toHaveLength(1);
      expect(defects[0]).toContain(String(reply.headers['x-request-id']));
    },
  );
});

clause(
  'read.errors.upstream_down',
  'read.errors.upstream_failure',
  'read.errors.upstream_as_problem',
).each([
  ['unavailable', 'upstream_unavailable', 30],
  ['ambiguous', 'upstream_unavailable', 30],
  ['throttled', 'upstream_rate_limited', 42],
  ['malformed', 'upstream_error', undefined],
  ['missing', 'not_found', undefined],
] as const satisfies readonly (readonly [ProviderErrorKind, ProblemCode, number | undefined])[])(
  'upstream failures answers %s with %s',
  async (kind, code, retryAfter) => {
    const provider = createStubProvider('stub', async () => {
      throw new ProviderError(kind, 'A sentence.', { retryAfterSeconds: 42 });
    });
    const app = await buildTestApp({ providers: [provider] });

    const reply = await app.request('/jack/status/20');

    expect(reply.json().code).toBe(code);
    expect(reply.json().retry_after).toBe(retryAfter);
  },
);

describe('a provider that keeps failing', () => {
  clause('read.errors.upstream_down')('is logged when its breaker opens', async () => {
    const lines: string[] = [];
    const provider = createStubProvider('stub', async () => {
      throw new ProviderError('unavailable', 'It is down.');
    });
    const app = await buildTestApp({ providers: [provider], onLog: (line) => lines.push(line) });

    for (let id = 20; id < 30; id += 1) await app.request(`/jack/status/${id}`);

    const changes = lines.filter((line) => line.includes('circuit breaker changed'));
    expect(changes.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ provider: 'stub', breaker: 'open', reason: 'It is down.' }),
    ]);
    expect(provider.queries).toHaveLength(5);
  });
});

clause('read.errors.problem_documents')(
  'a shutdown rejects new requests and readiness checks, but stays alive',
  async () => {
    const app = await buildTestApp();
    expect((await app.request('/health/ready')).statusCode).toBe(200);

    app.startDraining();

    for (const url of ['/health/ready', '/ada.example/status/1900000000000000001', '/no/route']) {
      const reply = await app.request(url);
      expect(reply.json()).toMatchObject({ code: 'shutting_down', retry_after: 1 });
      expect(reply.headers.connection).toBe('close');
    }
    expect((await app.request('/health/live?x=1')).json()).toEqual({ status: 'ok' });
  },
);

clause('read.problem.media_type')('high load rejects reads with overloaded', async () => {
  const load = { isHigh: true, close: () => undefined };
  const app = await buildTestApp({ load });

  const shed = await app.request('/ada.example/status/1900000000000000001');
  const health = await app.request('/health/ready');
  load.isHigh = false;
  const served = await app.request('/ada.example/status/1900000000000000001');

  expect(shed.json()).toMatchObject({ code: 'overloaded', retry_after: 1 });
  expect([health.statusCode, served.statusCode]).toEqual([200, 200]);
});
