import { describe, expect, it } from 'vitest';
import { clause } from '../support/clause.ts';
import { browseRequests, postRequests } from '../support/row-requests.ts';
import { type CachedReply, startSharedCache } from '../support/shared-cache.ts';

const rows = [...browseRequests, ...postRequests];
const isEmbed = ({ row }: (typeof rows)[number]) => row.path.endsWith('/oembed');
const permalinks = postRequests.filter((one) => one.row.surface === 'permalink' && !isEmbed(one));
const unknown = { authorization: `Bearer perch_${'u'.repeat(43)}` };

const json = { accept: 'application/json' };
const markdown = { accept: 'text/markdown' };

/** Settings with and without shared caching. */
const settings = [{ PERCH_SHARED_CACHE_SECONDS: '300' }, {}] as const;

function statusOf({ headers, code, isFromCache }: CachedReply): readonly unknown[] {
  return [code, headers['x-api-key-status'], isFromCache];
}

const idOf = ({ headers }: CachedReply) => headers['x-request-id'];

describe('a shared cache', () => {
  it.each(settings)('serves the first anonymous reply to others: %o', async (env) => {
    const cache = await startSharedCache(env);
    for (const { url } of rows) {
      const first = await cache.get(url);
      const second = await cache.get(url);

      expect([first.code, first.isFromCache, second.isFromCache]).toEqual([200, false, true]);
      expect([second.body, idOf(second)]).toEqual([first.body, idOf(first)]);
      expect(second.headers.age).toBeDefined();
    }
  });

  clause('read.auth.keyed_never_from_shared_cache').each(settings)(
    'does not serve an anonymous reply to a key: %o',
    async (env) => {
      const cache = await startSharedCache(env);
      const { headers } = await cache.app.createKey();
      for (const { url } of browseRequests) {
        const anonymous = await cache.get(url);

        const keyed = [await cache.get(url, headers), await cache.get(url, headers)];
        const after = await cache.get(url);

        expect(keyed.map(statusOf)).toEqual([
          [200, 'valid', false],
          [200, 'valid', false],
        ]);
        expect(new Set([anonymous, ...keyed].map(idOf)).size).toBe(3);
        // The anonymous copy is unchanged.
        expect(statusOf(after)).toEqual([200, 'anonymous', true]);
        expect(idOf(after)).toBe(idOf(anonymous));
      }
    },
  );

  clause('read.auth.keyed_never_from_shared_cache').each(settings)(
    'does not serve a keyed reply to anyone: %o',
    async (env) => {
      const cache = await startSharedCache(env);
      const { headers } = await cache.app.createKey();
      const other = await cache.app.createKey();
      for (const { url } of browseRequests) {
        const keyed = await cache.get(url, headers);

        const replies = [
          await cache.get(url, other.headers),
          await cache.get(url),
          await cache.get(url, headers),
        ];

        expect(replies.map(statusOf)).toEqual([
          [200, 'valid', false],
          [200, 'anonymous', false],
          [200, 'valid', false],
        ]);
        expect(new Set([keyed, ...replies].map(idOf)).size).toBe(4);
      }
    },
  );

  clause(
    'read.auth.keyed_never_from_shared_cache',
    'read.errors.invalid_key',
    'read.auth.unknown_key_rejected',
  )('returns 401 for an invalid key, whatever is cached', async () => {
    const cache = await startSharedCache({ PERCH_SHARED_CACHE_SECONDS: '300' });
    for (const { url } of browseRequests) {
      await cache.get(url);
      expect((await cache.get(url)).isFromCache).toBe(true);

      const replies = [await cache.get(url, unknown), await cache.get(url, unknown)];

      expect(replies.map(statusOf)).toEqual([
        [401, 'invalid', false],
        [401, 'invalid', false],
      ]);
      expect(statusOf(await cache.get(url))).toEqual([200, 'anonymous', true]);
    }
  });

  clause('read.auth.keyed_never_from_shared_cache')(
    'forwards conditional requests with a key',
    async () => {
      const cache = await startSharedCache({ PERCH_SHARED_CACHE_SECONDS: '300' });
      const { headers } = await cache.app.createKey();
      for (const { url } of browseRequests) {
        const anonymous = await cache.get(url);
        const etag = String(anonymous.headers.etag);

        const keyed = await cache.get(url, { ...headers, 'if-none-match': etag });
        const again = await cache.get(url, { 'cache-control': 'no-cache' });

        expect(statusOf(keyed)).toEqual([304, 'valid', false]);
        expect([again.code, again.isFromCache, again.body]).toEqual([200, false, anonymous.body]);
        expect(again.headers['x-api-key-status']).toBe('anonymous');
      }
    },
  );

  it('serves the cached copy of a post to a key', async () => {
    const cache = await startSharedCache({ PERCH_SHARED_CACHE_SECONDS: '300' });
    const { headers } = await cache.app.createKey();
    for (const { url } of postRequests) {
      const plain = await cache.get(url);

      const replies = [await cache.get(url, headers), await cache.get(url, unknown)];

      for (const { code, body, isFromCache, headers: got } of replies) {
        expect([code, body, isFromCache]).toEqual([200, plain.body, true]);
        expect(got['x-api-key-status']).toBeUndefined();
      }
    }
  });

  it.each([
    ['JSON first', json, markdown],
    ['Markdown first', markdown, json],
    ['JSON before nothing', json, {}],
    ['nothing before JSON', {}, json],
  ])('distinguishes formats: %s', async (_, first, second) => {
    const cache = await startSharedCache({ PERCH_SHARED_CACHE_SECONDS: '300' });
    for (const one of rows) {
      if (isEmbed(one)) continue;
      const [a, b] = [await cache.get(one.url, first), await cache.get(one.url, second)];
      const again = [await cache.get(one.url, first), await cache.get(one.url, second)];

      expect(typesOf([a, b])).toEqual([typeFor(first), typeFor(second)]);
      expect(a.headers.etag).not.toBe(b.headers.etag);
      expect(again.map(({ isFromCache }) => isFromCache)).toEqual([true, true]);
      expect(again.map(({ body }) => body)).toEqual([a.body, b.body]);
    }
  });

  it('stores no errors', async () => {
    const cache = await startSharedCache({
      PERCH_SHARED_CACHE_SECONDS: '300',
      PERCH_PUBLIC_ALLOWANCE: '1',
      PERCH_POST_ALLOWANCE: '1',
    });
    await cache.get('/search?q=heron&platform=archive');
    await cache.get('/ada.example/status/1900000000000000001');
    const bad = rows.map(({ url }) => `${url}&format=pdf`);
    const spent = rows.map(({ url }) => `${url}&nocache=true`);

    for (const url of ['/no/route', '/docs/no-such-page', ...bad, ...spent]) {
      const replies = [await cache.get(url), await cache.get(url)];
      expect(replies[0]?.code).toBeGreaterThanOrEqual(400);
      expect(replies.map(({ isFromCache }) => isFromCache)).toEqual([false, false]);
      expect(new Set(replies.map(idOf)).size).toBe(2);
    }
  });

  it('stores no “not found”, although it is cacheable by default', async () => {
    const cache = await startSharedCache({ PERCH_SHARED_CACHE_SECONDS: '300' });
    for (const { missingUrl } of rows) {
      if (missingUrl === null) continue;
      const replies = [await cache.get(missingUrl), await cache.get(missingUrl)];
      expect(replies.map(({ code, isFromCache }) => [code, isFromCache])).toEqual([
        [404, false],
        [404, false],
      ]);
    }
  });
});

describe('a shared cache before link previews', () => {
  const env = { PERCH_SHARED_CACHE_SECONDS: '300', PERCH_LINK_PREVIEWS: 'true' };
  const person = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' };
  const crawler = { 'user-agent': 'Twitterbot/1.0' };
  const curl = { 'user-agent': 'curl/8.14.1' };

  it.each([
    ['the crawler first', crawler, person],
    ['the person first', person, crawler],
    ['a program first', curl, crawler],
  ])('distinguishes crawlers and browsers: %s', async (_, first, second) => {
    const cache = await startSharedCache(env);
    for (const { url } of permalinks) {
      const [a, b] = [await cache.get(url, first), await cache.get(url, second)];
      const again = [await cache.get(url, first), await cache.get(url, second)];

      expect(typesOf([a, b])).toEqual([typeFor(first), typeFor(second)]);
      expect(again.map(({ isFromCache }) => isFromCache)).toEqual([true, true]);
      expect(again.map(({ body }) => body)).toEqual([a.body, b.body]);
    }
  });

  it('serves JSON only to crawlers that request it', async () => {
    const cache = await startSharedCache(env);
    for (const { url } of permalinks) {
      const replies = [
        await cache.get(url, { ...crawler, ...json }),
        await cache.get(url, crawler),
        await cache.get(url, { ...person, ...json }),
        await cache.get(url, { ...crawler, ...json }),
      ];
      expect(typesOf(replies)).toEqual([
        'application/json; charset=utf-8',
        'text/html; charset=utf-8',
        'application/json; charset=utf-8',
        'application/json; charset=utf-8',
      ]);
    }
  });
});

function typesOf(replies: readonly CachedReply[]): readonly unknown[] {
  return replies.map(({ headers }) => headers['content-type']);
}

function typeFor(headers: { accept?: string; 'user-agent'?: string }): string {
  if (headers.accept === 'application/json') return 'application/json; charset=utf-8';
  const isCrawler = headers['user-agent']?.startsWith('Twitterbot') === true;
  return isCrawler ? 'text/html; charset=utf-8' : 'text/markdown; charset=utf-8';
}
