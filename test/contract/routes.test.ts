import { describe, expect, it } from 'vitest';
import { type ReadRoute, readRoutes } from '../../src/routes/reads/routes.ts';
import { buildTestApp, shareTestApp } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';

const app = shareTestApp();
const given: Readonly<Record<string, string>> = {
  handle: 'ada.example',
  id: '1900000000000000001',
  n: '1',
};

function fill({ path }: ReadRoute): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => given[name] ?? '');
  const post = encodeURIComponent(`http://localhost:8080/${given.handle}/status/${given.id}`);
  const named = path.endsWith('/replies') ? `&handle=${given.handle}` : '';
  return `${filled}?url=${post}&q=heron&platform=archive${named}`;
}

clause('read.what.read_only', 'read.what.no_write_path').each(readRoutes)(
  'rejects methods that write at $path',
  async (row) => {
    const app = await buildTestApp();
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const reply = await app.request(fill(row), { method });
      expect([method, reply.statusCode, reply.headers.allow]).toEqual([method, 405, 'GET, HEAD']);
    }
  },
);

/** What a client could send to say who it is. */
const names = { cookie: 'session=1; user=ada', 'x-api-key': 'k', from: 'ada@example.org' };

clause('read.what.no_sign_in', 'read.auth.no_credentials_needed').each(readRoutes)(
  'needs no credentials and starts no session at $path',
  async (row) => {
    for (const headers of [{}, names]) {
      const reply = await app.request(fill(row), { headers });
      expect([reply.statusCode, reply.headers['set-cookie']]).toEqual([200, undefined]);
    }
  },
);

clause(
  'read.what.no_per_user_data',
  'read.what.same_public_identity',
  'read.auth.shared_public_identity',
).each(readRoutes)('sends the same reply to all callers at $path', async (row) => {
  const plain = await app.request(fill(row));

  const other = await app.request(fill(row), { headers: names });

  expect(other.body).toBe(plain.body);
});

const unknownKey = { authorization: `Bearer perch_${'u'.repeat(43)}` };

describe('a reserved name', () => {
  it.each([
    '/docs/no-such-page',
    '/humans.txt',
    '/apple-touch-icon.png',
    '/ads.txt',
    '/metrics/followers',
    '/mcp/followers',
    '/docs/following',
    '/health',
    '/.well-known/followers',
  ])('is not a route, with any key or method: %s', async (url) => {
    const app = await buildTestApp();
    const plain = await app.request(url);

    const bad = [
      unknownKey,
      { authorization: 'Bearer' },
      { authorization: `Bearer ${'x'.repeat(5000)}` },
    ];
    for (const headers of bad) {
      const reply = await app.request(url, { headers });
      expect([reply.statusCode, reply.body]).toEqual([404, plain.body]);
    }
    for (const method of ['HEAD', 'POST', 'DELETE']) {
      expect((await app.request(url, { method })).statusCode).toBe(404);
    }
  });

  it('is not a route under load', async () => {
    const load = { isHigh: true, close: () => undefined };
    const app = await buildTestApp({ load });

    expect((await app.request('/humans.txt')).statusCode).toBe(404);
  });
});
