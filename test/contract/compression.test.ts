import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { LightMyRequestResponse } from 'fastify';
import { describe, expect, it, vi } from 'vitest';
import { asAdmin, buildTestApp, shareTestApps, type TestApp } from '../support/build-app.ts';
import { navigation, signIn } from '../support/dashboard.ts';
import { buildSessionRig } from '../support/session-rig.ts';

const sharedApp = shareTestApps();

const post = '/ada.example/status/1900000000000000001';

/** Texts of more than 1 KiB, each sent by other code. */
const texts = [
  post,
  `${post}?format=json`,
  `${post}?format=html`,
  '/ada.example?format=atom',
  '/api/v1/profiles/ada.example?format=jsonfeed',
  '/api/v1/profiles/ada.example/posts',
  '/http://localhost:8080/ada.example/status/1900000000000000001',
  '/openapi.json',
  '/api',
  '/llms.txt',
  '/docs/keys',
  '/docs/keys.md',
  '/docs/find?q=key',
  '/',
  '/?q=@ada.example',
  '/docs/assets/site.css',
] as const;

const ask = (app: TestApp, url: string, headers: Record<string, string> = {}) =>
  app.server.inject({ url, headers });

const coded = (coding: string) => ({ 'accept-encoding': coding });

function decode({ headers, rawPayload }: LightMyRequestResponse): string {
  if (headers['content-encoding'] === 'gzip') return gunzipSync(rawPayload).toString();
  if (headers['content-encoding'] === 'br') return brotliDecompressSync(rawPayload).toString();
  return rawPayload.toString();
}

describe('a text of more than 1 KiB', () => {
  it.each(texts)('is compressed if the client accepts it: %s', async (url) => {
    const app = await buildTestApp();
    await ask(app, url);
    const plain = await ask(app, url);

    for (const coding of ['gzip', 'br']) {
      const reply = await ask(app, url, coded(coding));
      const head = await app.server.inject({ method: 'HEAD', url, headers: coded(coding) });

      expect(reply.headers['content-encoding']).toBe(coding);
      expect(decode(reply)).toBe(plain.body);
      expect(reply.rawPayload.length).toBeLessThan(plain.rawPayload.length);
      expect(Number(reply.headers['content-length'])).toBe(reply.rawPayload.length);
      expect(String(reply.headers.vary).split(', ')).toContain('Accept-Encoding');
      expect(reply.headers.vary).toBe(plain.headers.vary);
      // HEAD of a history does not read it.
      const names = url.endsWith('/posts') ? ['content-type'] : ['etag', 'content-length'];
      for (const name of names) expect(head.headers[name]).toBe(reply.headers[name]);
      expect(head.rawPayload.length).toBe(0);
    }
  });

  it.each([
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZip;Q=0.2', 'gzip'],
    ['deflate, gzip;q=0.5', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.4, gzip;q=0.6', 'gzip'],
    ['*', 'gzip'],
    ['gzip;q=0, *;q=0.1', 'br'],
    ['identity;q=0, br;q=0.1', 'br'],
    ['identity;q=0.5, gzip;q=0.4', undefined],
    ['gzip;q=0', undefined],
    ['gzip;q=2', undefined],
    ['*;q=0', undefined],
    ['identity', undefined],
    ['zstd, deflate', undefined],
    ['', undefined],
  ])('has with Accept-Encoding %s the coding %s', async (accepted, coding) => {
    const app = await sharedApp().open();

    for (const url of [post, '/api/v1/profiles/ada.example/posts']) {
      const reply = await ask(app, url, coded(accepted));
      expect(reply.headers['content-encoding']).toBe(coding);
    }
  });

  it('has a strong ETag for each coding, and 304 has the same', async () => {
    const app = await sharedApp().open();
    const codings = ['identity', 'gzip', 'br'];
    const replies = await Promise.all(codings.map((one) => ask(app, '/docs/posts', coded(one))));
    const tags = replies.map(({ headers }) => String(headers.etag));

    expect(new Set(tags).size).toBe(3);
    for (const tag of tags) {
      expect(tag).toMatch(/^"[\w-]+"$/);
      for (const [index, one] of codings.entries()) {
        const headers = { ...coded(one), 'if-none-match': tag };
        const same = await ask(app, '/docs/posts', headers);
        expect([same.statusCode, same.headers.etag, same.headers.vary, same.body]).toEqual([
          ...[304, tags[index], replies[index]?.headers.vary],
          '',
        ]);
        expect(same.headers['content-encoding']).toBeUndefined();
      }
    }
  });

  it.each([
    ['an `ETag` of Apache httpd', (tag: string) => tag.replace(/"$/, '-gzip"')],
    ['of Jetty', (tag: string) => tag.replace(/"$/, '--gzip"')],
    ['of LiteSpeed', (tag: string) => tag.replace(/"$/, ';br"')],
    ['of Caddy', (tag: string) => `"other", ${tag.replace(/"$/, '-zstd"')}`],
    ['of nginx', (tag: string) => `W/${tag}`],
    ['that is weak, with a suffix', (tag: string) => `W/${tag.replace(/"$/, '-br"')}`],
    ['with a suffix after that of Perch', (tag: string) => tag.replace(/"$/, '-gzip;gz"')],
  ])('gets 304 to %s', async (_, change) => {
    const app = await sharedApp().open();

    for (const url of ['/ada.example?format=rss', '/llms.txt']) {
      const { headers } = await ask(app, url);
      const known = change(String(headers.etag));
      const replies = [
        await ask(app, url, { 'if-none-match': known }),
        await ask(app, url, { ...coded('gzip'), 'if-none-match': known }),
      ];
      expect(replies.map(({ statusCode }) => statusCode)).toEqual([304, 304]);
    }
  });

  it('is sent for an ETag with another ending', async () => {
    const app = await sharedApp().open();
    const tag = String((await ask(app, post)).headers.etag);

    for (const end of ['x"', '-gzi"', '-gzip-gzip-gzip"', '-gzip', ';"']) {
      const reply = await ask(app, post, { 'if-none-match': tag.replace(/"$/, end) });
      expect(reply.statusCode, end).toBe(200);
    }
  });

  it('is compressed once, also for concurrent first requests', async () => {
    const app = await buildTestApp();
    await ask(app, post);
    const compress = vi.spyOn(app.server.compression, 'compress');

    const first = await Promise.all(
      Array.from({ length: 20 }, () => ask(app, post, coded('gzip'))),
    );
    const later = await ask(app, post, coded('gzip'));

    expect(compress).toHaveBeenCalledTimes(1);
    expect(new Set([...first, later].map(decode)).size).toBe(1);
  });

  it('counts towards the size of the cache once it is compressed', async () => {
    const app = await buildTestApp();
    const size = async () => {
      const { body } = await ask(app, '/metrics', asAdmin);
      return Number(/^perch_cache_bytes (\d+)$/m.exec(body)?.[1]);
    };
    await ask(app, post);
    await ask(app, post);
    const before = await size();

    const reply = await ask(app, post, coded('br'));
    await ask(app, post, coded('br'));

    const headerBytes = 4000;
    expect((await size()) - before).toBe(headerBytes + reply.rawPayload.length);
  });

  it('is sent uncompressed if the compression fails or is busy', async () => {
    const app = await buildTestApp();
    const compress = vi.spyOn(app.server.compression, 'compress');
    compress.mockRejectedValueOnce(new Error('out of memory')).mockResolvedValueOnce(null);

    const replies = [
      await ask(app, '/docs/start', coded('gzip')),
      await ask(app, '/docs/start', coded('gzip')),
      await ask(app, '/docs/start', coded('gzip')),
    ];

    expect(replies.map(({ headers }) => headers['content-encoding'])).toEqual([
      ...[undefined, undefined],
      'gzip',
    ]);
    expect(new Set(replies.map(decode)).size).toBe(1);
  });

  it('is compressed for a key too, and stays private', async () => {
    const app = await buildTestApp();
    const { headers } = await app.createKey();

    const reply = await ask(app, '/ada.example', { ...headers, ...coded('gzip') });

    expect(reply.headers).toMatchObject({
      'content-encoding': 'gzip',
      'cache-control': 'private, no-store',
    });
  });

  it('is compressed in replies of MCP and in metrics', async () => {
    const app = await buildTestApp();
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

    const replies = [
      await ask(app, '/metrics', { ...asAdmin, ...coded('gzip') }),
      await app.server.inject({
        ...{ method: 'POST', url: '/mcp', payload: JSON.stringify(call) },
        headers: { ...headers, ...coded('gzip') },
      }),
    ];

    expect(replies.map(({ headers: sent }) => sent['content-encoding'])).toEqual(['gzip', 'gzip']);
    expect(decode(replies[1] as LightMyRequestResponse)).toContain('inputSchema');
  });
});

describe('a reply that is never compressed', () => {
  it.each(['/health/live', '/no/such/route', '/api/v1/opml?handles=jack'])(
    'is a small one: %s',
    async (url) => {
      const app = await sharedApp().open();

      const { headers } = await ask(app, url, coded('gzip'));

      expect(headers['content-encoding']).toBeUndefined();
      expect(String(headers.vary)).not.toContain('Accept-Encoding');
    },
  );

  it('is one beside secrets: the admin API, the dashboard, and its sign-in form', async () => {
    const app = await buildTestApp();
    const operator = await signIn(app);
    const cookie = { ...operator.headers, ...navigation };

    const replies = [
      await ask(app, '/api/admin/openapi.json', { ...asAdmin, ...coded('gzip') }),
      await ask(app, '/admin/keys', { ...cookie, ...coded('gzip') }),
      await ask(app, '//admin/', { ...navigation, ...coded('gzip') }),
    ];

    for (const { headers, body } of replies) {
      expect(body.length).toBeGreaterThan(1024);
      expect(headers['content-encoding']).toBeUndefined();
      expect(String(headers.vary)).not.toContain('Accept-Encoding');
    }
  });

  it('is a stream', async () => {
    const app = await sharedApp().open();

    const reply = await ask(app, '/ada.example/posts?format=ndjson', coded('gzip'));

    expect(reply.body.length).toBeGreaterThan(1024);
    expect(reply.headers['content-encoding']).toBeUndefined();
  });

  it('is one of the session service, unlike other problems of the same size', async () => {
    const app = await sharedApp({ env: { PERCH_SESSIONS: 'on' } }).open();
    const query = `?text=${'a'.repeat(1100)}`;

    const own = await ask(app, `//svc/v1/no-route${query}`, coded('gzip'));
    const other = await ask(app, `/no/such/route${query}`, coded('gzip'));

    expect([own, other].map(({ headers }) => headers['content-encoding'])).toEqual([
      undefined,
      'gzip',
    ]);
  });
});

describe('a compressed request body', () => {
  const payload = '{}';
  const sent = (coding: string) => ({
    'content-type': 'application/json',
    'content-encoding': coding,
  });

  it.each([
    ['/mcp/', {}],
    ['/api/admin/keys', asAdmin],
    ['/admin/sign-in', { 'sec-fetch-site': 'same-origin' }],
  ])('gets 415 with the codings that are read: %s', async (url, own) => {
    const app = await buildTestApp();

    for (const coding of ['gzip', 'br', 'GZIP, identity']) {
      const headers = { ...sent(coding), ...own };
      const reply = await app.server.inject({ method: 'POST', url, headers, payload });
      expect([reply.statusCode, reply.json().code]).toEqual([415, 'unsupported_media_type']);
      expect(reply.headers['accept-encoding']).toBe('identity');
      expect(reply.json().detail).toContain(coding);
    }
  });

  it('gets 415 from the session service, in its form', async () => {
    const rig = await buildSessionRig();

    for (const url of ['/svc/v1/session', '/svc/v1/session/x/cancel']) {
      const reply = await rig.request(url, {
        ...{ method: 'POST', body: payload },
        headers: sent('deflate'),
      });
      expect([reply.statusCode, reply.json().ok]).toEqual([415, false]);
      expect(reply.headers['accept-encoding']).toBe('identity');
    }
  });

  it('gets 401 first without the token', async () => {
    const app = await buildTestApp();

    const reply = await app.server.inject({
      ...{ method: 'POST', url: '/api/admin/keys', payload },
      headers: sent('gzip'),
    });

    expect(reply.statusCode).toBe(401);
  });

  it('is one with a coding other than identity', async () => {
    const app = await buildTestApp();

    const reply = await app.server.inject({
      ...{ method: 'POST', url: '/api/admin/keys', payload: '{"label":"reader"}' },
      headers: { ...sent('Identity'), ...asAdmin },
    });

    expect(reply.statusCode).toBe(201);
  });
});
