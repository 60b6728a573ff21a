import { describe, expect, it } from 'vitest';
import { buildTestApp, shareTestApps } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { browseRequests, headersOf, postRequests } from '../support/row-requests.ts';
import { withoutCoding } from '../support/vary.ts';

const sharedApp = shareTestApps();
const app = sharedApp();

const rows = [...browseRequests, ...postRequests];
const current = rows.filter(({ row }) => row.surface !== 'alias');
const aliases = rows.filter(({ row }) => row.surface === 'alias');
const isEmbed = ({ row }: (typeof rows)[number]) => row.path.endsWith('/oembed');
const isPost = ({ row }: (typeof rows)[number]) => postRequests.some((one) => one.row === row);
const twoFormats = rows.filter((one) => !isEmbed(one));
const posts = rows.filter((one) => isPost(one) && !isEmbed(one));

/** RFC 9110 §8.8.3: an opaque tag in quotes, without `W/`. */
const strongTag = /^"[\x21\x23-\x7e]+"$/;

const json = { accept: 'application/json' };

describe('an entity tag', () => {
  it('is strong and changes only with the bytes', async () => {
    for (const { url } of rows) {
      const first = await app.request(url);

      const replies = [await app.request(url), await app.request(`${url}&nocache=true`)];

      expect(first.headers.etag).toMatch(strongTag);
      expect(replies[0]?.headers.etag).toBe(first.headers.etag);
      for (const { body, headers } of replies) {
        expect(headers.etag === first.headers.etag).toBe(body === first.body);
      }
    }
  });

  it('differs between formats', async () => {
    for (const one of twoFormats) {
      const urls = [one.url, `${one.url}&format=json`, `${one.url}&full=true`];
      if (isPost(one)) urls.push(`${one.url}&format=obsidian`, `${one.url}&userinfo=all`);

      const replies = await Promise.all(urls.map((url) => app.request(url)));

      const tags = replies.map(({ headers }) => headers.etag);
      expect(new Set(tags).size).toBe(new Set(replies.map(({ body }) => body)).size);
      expect(new Set(tags.slice(0, 2)).size).toBe(2);
    }
  });

  it('differs between a page and its full form', async () => {
    for (const { url } of [
      ...posts,
      ...browseRequests.filter(({ name }) => /profile|^\/\{handle\}$/.test(name)),
    ]) {
      const [page, full] = [await app.request(url), await app.request(`${url}&full=true`)];

      expect(full.body).not.toBe(page.body);
      expect(full.headers.etag).not.toBe(page.headers.etag);
    }
  });

  it('is the same for Accept and for the parameter', async () => {
    for (const { url } of twoFormats) {
      const [accepted, named] = [
        await app.request(url, { headers: json }),
        await app.request(`${url}&format=json`),
      ];

      expect(accepted.body).toBe(named.body);
      expect(accepted.headers.etag).toBe(named.headers.etag);
    }
  });
});

describe('If-None-Match', () => {
  const forms: readonly (readonly [string, (tag: string) => string])[] = [
    ['the tag', (tag) => tag],
    ['the weak form', (tag) => `W/${tag}`],
    ['a list', (tag) => `"other", ${tag}, "another"`],
    ['a list without spaces', (tag) => `"other",${tag}`],
    ['a list of weak forms', (tag) => `W/"other" , W/${tag}`],
    ['a star', () => '*'],
  ];
  it.each(forms)('gets 304 with the same headers: %s', async (_, write) => {
    for (const { url } of [...rows, { url: '/api' }]) {
      await app.request(url);
      const found = await app.request(url);
      const headers = { 'if-none-match': write(String(found.headers.etag)) };

      const same = await app.request(url, { headers });

      expect([same.statusCode, same.body]).toEqual([304, '']);
      expect(headersOf(same)).toEqual(headersOf(found, 'content-type', 'content-length'));
    }
  });

  const strangers = ['"other"', 'W/"other"', '', '"*"', '"', 'x', '"other", "another"'];
  it.each(strangers)('gets the page if the entity tag differs: %s', async (known) => {
    for (const { url } of rows) {
      const reply = await app.request(url, { headers: { 'if-none-match': known } });
      expect(reply.statusCode).toBe(200);
    }
  });

  it('distinguishes formats', async () => {
    for (const { url } of twoFormats) {
      const markdown = String((await app.request(url)).headers.etag);

      const reply = await app.request(url, { headers: { ...json, 'if-none-match': markdown } });

      expect(reply.statusCode).toBe(200);
      expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
    }
  });

  it('does not affect problems', async () => {
    for (const { url, missingUrl } of rows) {
      const headers = { 'if-none-match': '*' };
      expect((await app.request(`${url}&format=pdf`, { headers })).statusCode).toBeGreaterThan(399);
      if (missingUrl === null) continue;
      expect((await app.request(missingUrl, { headers })).statusCode).toBe(404);
    }
  });

  it('works for HEAD too', async () => {
    for (const { url } of current) {
      await app.request(url);
      const headers = { 'if-none-match': '*' };
      const [get, head] = [
        await app.request(url, { headers }),
        await app.request(url, { method: 'HEAD', headers }),
      ];
      expect(head.statusCode).toBe(304);
      expect(headersOf(head)).toEqual(headersOf(get));
    }
  });
});

describe('Cache-Control', () => {
  it.each([
    ['0', 'public, max-age=60, stale-while-revalidate=300'],
    ['300', 'public, max-age=60, s-maxage=300, stale-while-revalidate=300'],
  ])('with PERCH_SHARED_CACHE_SECONDS=%s is %s', async (seconds, expected) => {
    const app = sharedApp({ env: { PERCH_SHARED_CACHE_SECONDS: seconds } });
    for (const { url } of rows) {
      for (const headers of [{}, { 'if-none-match': '*' }]) {
        const reply = await app.request(url, { headers });
        expect(reply.headers['cache-control']).toBe(expected);
      }
    }
  });

  clause('read.auth.keyed_no_store').each(['0', '300'])(
    'forbids caching of replies to keys with PERCH_SHARED_CACHE_SECONDS=%s',
    async (seconds) => {
      const app = await buildTestApp({ env: { PERCH_SHARED_CACHE_SECONDS: seconds } });
      const key = await app.createKey();
      for (const { url } of browseRequests) {
        await app.request(url);
        for (const headers of [key.headers, { ...key.headers, 'if-none-match': '*' }]) {
          const reply = await app.request(url, { headers });
          expect(reply.headers['cache-control']).toBe('private, no-store');
        }
      }
    },
  );

  it('forbids caching of errors', async () => {
    const app = await buildTestApp({ env: { PERCH_SHARED_CACHE_SECONDS: '300' } });
    for (const { url, missingUrl } of rows) {
      const replies = [
        await app.request(`${url}&format=pdf`),
        await app.request(url, { method: 'POST' }),
        await app.request(missingUrl ?? '/no/route'),
      ];
      for (const { headers } of replies) expect(headers['cache-control']).toBe('no-store');
    }
  });
});

describe('Vary', () => {
  it('lists the request headers that the reply depends on', async () => {
    for (const one of rows) {
      const choice = isPost(one) ? 'Accept' : 'Accept, Authorization';
      const expected = isEmbed(one) ? undefined : choice;

      const replies = [
        await app.request(one.url),
        await app.request(one.url, { headers: json }),
        await app.request(`${one.url}&format=json`),
        await app.request(one.url, { headers: { 'if-none-match': '*' } }),
      ];

      const varied = replies.map(({ headers }) => withoutCoding(headers.vary));
      expect(varied).toEqual(Array(4).fill(expected));
    }
  });

  it('lists User-Agent if link previews are enabled', async () => {
    const app = sharedApp({ env: { PERCH_LINK_PREVIEWS: 'true' } });
    for (const one of rows) {
      const hasPreview = one.row.surface === 'permalink' && isPost(one) && !isEmbed(one);
      const agents = ['Mozilla/5.0', 'Twitterbot/1.0'];

      const replies = await Promise.all(
        [{}, json, { 'if-none-match': '*' }].flatMap((headers) =>
          agents.map((agent) =>
            app.request(one.url, { headers: { ...headers, 'user-agent': agent } }),
          ),
        ),
      );

      for (const { headers } of replies) {
        const names = String(headers.vary ?? '').split(', ');
        expect(names.includes('User-Agent')).toBe(hasPreview);
      }
      const types = replies.map(({ headers }) => String(headers['content-type']));
      expect(types.some((type) => type.startsWith('text/html'))).toBe(hasPreview);
    }
  });
});

describe('HEAD', () => {
  /** The response cache answers the second of two requests. */
  const ofCache = ['x-cache', 'ratelimit'];

  it('has the headers of GET, and no body', async () => {
    for (const { url, missingUrl } of current) {
      const asked = [url, `${url}&format=json`, `${url}&format=pdf`, missingUrl ?? url];
      for (const path of asked) {
        for (const headers of [{}, json]) {
          const [head, get] = [
            await app.request(path, { method: 'HEAD', headers }),
            await app.request(path, { headers }),
          ];
          expect([head.statusCode, head.body]).toEqual([get.statusCode, '']);
          expect(headersOf(head, ...ofCache)).toEqual(headersOf(get, ...ofCache));
          expect(Number(head.headers['content-length'])).toBe(Buffer.byteLength(get.body));
        }
      }
    }
  });

  it.each(['/api', '/health/live', '/health/ready', '/no/route'])(
    'has the headers of GET, and no body: %s',
    async (url) => {
      const [head, get] = [await app.request(url, { method: 'HEAD' }), await app.request(url)];

      expect([head.statusCode, head.body]).toEqual([get.statusCode, '']);
      expect(headersOf(head)).toEqual(headersOf(get));
    },
  );

  it('has the headers of GET for each key status', async () => {
    const app = await buildTestApp();
    for (const { url } of browseRequests.filter(({ row }) => row.surface !== 'alias')) {
      const key = await app.createKey();
      await app.request(url);
      for (const headers of [key.headers, { authorization: 'Bearer x' }]) {
        const [head, get] = [
          await app.request(url, { method: 'HEAD', headers }),
          await app.request(url, { headers }),
        ];
        expect(head.statusCode).toBe(get.statusCode);
        expect(headersOf(head)).toEqual(headersOf(get));
      }
    }
  });

  it('runs no read at a deprecated alias, and must not be cached', async () => {
    const app = await buildTestApp();
    for (const one of aliases) {
      const head = await app.request(one.url, { method: 'HEAD' });

      expect([head.statusCode, head.body, head.headers.etag]).toEqual([200, '', undefined]);
      expect(head.headers['cache-control']).toBe('no-store');
      expect((await app.request(one.url)).headers['x-cache']).toBe('miss');
    }
  });
});
