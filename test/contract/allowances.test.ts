import { mkdirSync } from 'node:fs';
import { get } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Page, PostFound } from '../../src/model/queries.ts';
import { ProviderError, type ProviderErrorKind } from '../../src/normalize/provider-error.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { asAdmin, buildTestApp, type TestApp, type TestKey } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { type ClientRequest, readRateLimit, requestFrom } from '../support/rate-limit.ts';
import { browseRequests, postRequests, type RowRequest } from '../support/row-requests.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';
import { stubAccount, stubFound, stubPost } from '../support/stub-provider.ts';

/** Fake source of X that answers everything until it is set to fail. */
interface Source {
  readonly provider: Provider;
  failure: ProviderErrorKind | null;
  /** Number of requests that it received. */
  asked: number;
  /** Promise that it awaits before it answers. */
  held: Promise<void>;
}

function createSource(): Source {
  const answer =
    <Found>(found: Found) =>
    async (): Promise<Found> => {
      source.asked += 1;
      await source.held;
      if (source.failure !== null) throw new ProviderError(source.failure, 'It is so.');
      return found;
    };
  const list = <Row>(items: readonly Row[]): Page<Row> => ({ items, cursor: null, warnings: [] });
  const found: PostFound = stubFound(stubPost('20'));
  const source: Source = {
    failure: null,
    asked: 0,
    held: Promise.resolve(),
    provider: {
      name: 'source',
      platforms: ['x'],
      reads: new Set(['post', 'profile', 'timeline', 'followers', 'following', 'search']),
      covers: () => true,
      fetch: {
        post: answer(found),
        profile: answer({ account: stubAccount('wren'), warnings: [] }),
        timeline: answer(list([stubPost('20')])),
        replies: answer(list([stubPost('21')])),
        followers: answer(list([stubAccount('robin')])),
        following: answer(list([stubAccount('robin')])),
        search: answer(list([stubPost('20')])),
      },
    },
  };
  return source;
}

async function setUp(env: Readonly<Record<string, string>> = {}) {
  const source = createSource();
  const app = await buildTestApp({ providers: [source.provider], env });
  return { app, source };
}

async function leftTo(
  app: TestApp,
  asking: ClientRequest,
  surface: 'browse' | 'post',
): Promise<number> {
  const path = surface === 'browse' ? '/api/browse?resource=search' : '/api/convert';
  const reply = await requestFrom(app, path, { ...asking, method: 'HEAD' });
  return readRateLimit(reply).remaining;
}

async function priceOf(app: TestApp, url: string, asking: ClientRequest = {}) {
  const isPost = /status|convert|posts|oembed/.test(url.split('?', 1)[0] ?? '');
  const surface = isPost ? 'post' : 'browse';
  const before = await leftTo(app, asking, surface);
  const reply = await requestFrom(app, url, asking);
  const after = await leftTo(app, asking, surface);
  expect(readRateLimit(reply).remaining).toBe(after);
  return { reply, status: reply.statusCode, price: before - after };
}

async function exhaust(app: TestApp, asking: ClientRequest = {}, path = '/search?q=all') {
  for (let times = 0; times < 1000; times += 1) {
    const reply = await requestFrom(app, `${path}&nocache=true`, asking);
    if (reply.statusCode === 429) return reply;
    expect(reply.statusCode).toBe(200);
  }
  throw new Error('There is no end to it.');
}

const changeAllowance = (app: TestApp, { id }: TestKey, allowance: number | null) =>
  app.server.inject({
    url: `/api/admin/keys/${id}`,
    method: 'PATCH',
    headers: { ...asAdmin, 'content-type': 'application/json' },
    payload: JSON.stringify({ allowance }),
  });

const unknownKey = `perch_${'u'.repeat(43)}`;
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe('the cost of a read', () => {
  clause('read.limits.public_allowance_search_and_browse').each(browseRequests)(
    'a unit for what the cache does not answer, whoever answers: $name',
    async ({ url }) => {
      const { app } = await setUp();

      const prices = [
        await priceOf(app, url),
        await priceOf(app, url),
        await priceOf(app, `${url}&format=json`),
        await priceOf(app, `${url}&nocache=true`),
        await priceOf(app, `${url}&nocache=true`),
      ];

      expect(prices.map(({ price, reply }) => [price, reply.headers['x-cache']])).toEqual([
        [1, 'miss'],
        [0, 'hit'],
        [0, 'hit'],
        [1, 'bypass'],
        [1, 'bypass'],
      ]);
    },
  );

  it.each(postRequests)('is one unit for a post that is not cached: $name', async ({ url }) => {
    const { app } = await setUp();

    const prices = [
      await priceOf(app, url),
      await priceOf(app, url),
      await priceOf(app, `${url}&nocache=true`),
    ];

    expect(prices.map(({ price }) => price)).toEqual([1, 0, 1]);
    expect(await leftTo(app, {}, 'browse')).toBe(60);
  });

  it('is one unit also if the local archive answers', async () => {
    const app = await buildTestApp({ env: { PERCH_PROVIDERS: 'archive' } });
    const prices: (readonly number[])[] = [];

    for (const { url } of browseRequests.slice(0, 4)) {
      const paths = [url, url, `${url}&nocache=true`];
      const paid: number[] = [];
      for (const path of paths) paid.push((await priceOf(app, path)).price);
      prices.push(paid);
    }

    expect(prices).toEqual(Array(4).fill([1, 0, 1]));
  });

  it('is nothing for 304', async () => {
    const { app } = await setUp();
    const { etag } = (await requestFrom(app, '/search?q=fog')).headers;

    const { status, price } = await priceOf(app, '/search?q=fog', {
      headers: { 'if-none-match': String(etag) },
    });

    expect([status, price]).toEqual([304, 0]);
  });

  it('is the same for HEAD as for GET, and nothing on a deprecated alias', async () => {
    const { app, source } = await setUp();
    const head = async (url: string) => {
      const { status, price } = await priceOf(app, url, { method: 'HEAD' });
      return [status, price];
    };

    expect(await head('/search?q=fog')).toEqual([200, 1]);
    expect(await head('/search?q=fog')).toEqual([200, 0]);
    expect(await head('/wren/status/20')).toEqual([200, 1]);
    const { asked } = source;
    expect(await head('/api/browse?resource=search&q=rain')).toEqual([200, 0]);
    expect(await head('/api/convert?url=https://x.com/wren/status/21')).toEqual([200, 0]);
    expect(source.asked).toBe(asked);
  });

  it('is nothing for a stale reply that is revalidated in the background', async () => {
    const { app, source } = await setUp();
    await requestFrom(app, '/search?q=fog');
    await app.advance(60_000);

    const { reply, price } = await priceOf(app, '/search?q=fog');

    expect([reply.headers['x-cache'], price]).toEqual(['stale', 0]);
    await expect.poll(() => source.asked).toBe(2);
    expect(await leftTo(app, {}, 'browse')).toBe(60);
  });

  it('is nothing for a stale reply that is served because the upstream fails', async () => {
    const { app, source } = await setUp();
    await requestFrom(app, '/search?q=fog');
    await app.advance(400_000);
    source.failure = 'unavailable';

    const { reply, price } = await priceOf(app, '/search?q=fog');

    expect([reply.headers['x-cache'], price]).toEqual(['stale', 0]);
  });

  it.each([
    ['unavailable', 503],
    ['throttled', 503],
    ['malformed', 502],
  ] as const)('is nothing if the upstream is %s', async (failure, expected) => {
    const { app, source } = await setUp();
    source.failure = failure;

    const browse = await priceOf(app, '/search?q=fog');
    const post = await priceOf(app, '/wren/status/20');

    expect([browse.price, post.price]).toEqual([0, 0]);
    expect(browse.status).toBe(expected);
    expect(post.status).toBeGreaterThanOrEqual(502);
  });

  it('is one unit for a missing post, and nothing while that is cached', async () => {
    const { app, source } = await setUp();
    source.failure = 'missing';
    const read = async (url: string) => {
      const { status, price } = await priceOf(app, url);
      return [status, price];
    };

    expect(await read('/wren')).toEqual([404, 1]);
    expect(await read('/wren')).toEqual([404, 0]);
    expect(await read('/wren?nocache=true')).toEqual([404, 1]);
    expect(await read('/wren/status/20')).toEqual([404, 1]);
    expect(await read('/wren/status/20')).toEqual([404, 0]);
    await app.advance(30_000);
    expect(await read('/wren/status/20')).toEqual([404, 1]);
  });

  it.each([
    '/search',
    '/search?q=fog&feed=nonsense',
    '/search?q=fog&q=rain',
    '/search?q=fog&cursor=nonsense',
    '/api/v1/profiles/not%20a%20handle',
    '/wren?limit=many',
    '/api/browse?resource=nonsense',
    '/api/v1/posts',
    '/api/v1/posts?url=https://elsewhere.example/',
    '/oembed?url=nonsense',
  ])('is nothing for a refused request: %s', async (url) => {
    const { app } = await setUp();

    const { status, price } = await priceOf(app, `${url}${url.includes('?') ? '&' : '?'}nocache=1`);

    expect([status, price]).toEqual([400, 0]);
  });

  it('is nothing for a wrong key or an invalid header', async () => {
    const { app, source } = await setUp();

    const unknown = await priceOf(app, '/search?q=fog', { headers: bearer(unknownKey) });
    const long = await priceOf(app, '/search?q=fog', { headers: bearer('x'.repeat(5000)) });

    expect([unknown.status, unknown.price]).toEqual([401, 0]);
    expect([long.status, long.price]).toEqual([400, 0]);
    expect(source.asked).toBe(0);
    expect(await leftTo(app, {}, 'browse')).toBe(60);
  });

  it('is one unit for each caller that waits for the same fetch', async () => {
    const { app, source } = await setUp();
    let release = () => {};
    source.held = new Promise<void>((resolve) => (release = resolve));
    const clients = ['192.0.2.1', '192.0.2.2', '192.0.2.2', '192.0.2.3'];

    const reads = clients.map((from) => requestFrom(app, '/search?q=fog', { from }));
    await expect.poll(() => source.asked).toBe(1);
    release();
    const replies = await Promise.all(reads);

    expect(replies.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
    expect(source.asked).toBe(1);
    expect(await leftTo(app, { from: '192.0.2.1' }, 'browse')).toBe(59);
    expect(await leftTo(app, { from: '192.0.2.2' }, 'browse')).toBe(58);
    expect(await leftTo(app, { from: '192.0.2.3' }, 'browse')).toBe(59);
  });

  it('is one unit for a caller that disconnects before the answer', async () => {
    const { app, source } = await setUp();
    source.held = new Promise(() => undefined);
    const url = await app.server.listen({ host: '127.0.0.1', port: 0 });
    const leaving = get(`${url}/search?q=fog`, { agent: false });
    const left = new Promise((resolve) => leaving.on('error', resolve));
    await expect.poll(() => source.asked).toBe(1);

    leaving.destroy();

    expect(await left).toBeInstanceOf(Error);
    await expect.poll(() => app.inFlight).toBe(0);
    expect(await leftTo(app, { from: '127.0.0.1' }, 'browse')).toBe(59);
    const metrics = await app.request('/metrics', { headers: asAdmin });
    expect(metrics.body, 'leaving is no failure of the server').toContain(
      'perch_problems_total{code="internal_error"} 0\n',
    );
  });
});

describe('an exhausted allowance', () => {
  const env = { PERCH_PUBLIC_ALLOWANCE: '3', PERCH_KEY_ALLOWANCE: '3', PERCH_POST_ALLOWANCE: '3' };

  clause('read.errors.rate_limit', 'read.limits.exhausted_429_retry_after').each([
    'public',
    'key',
    'post',
  ])('is 429 until exactly the moment that Retry-After names: %s', async (policy) => {
    const { app } = await setUp(env);
    const headers = policy === 'key' ? (await app.createKey()).headers : {};
    const path = policy === 'post' ? '/wren/status/20?full=1' : '/search?q=fog';
    const read = () => requestFrom(app, `${path}&nocache=true`, { headers });
    for (const pauseMs of [7300, 500, 4200]) {
      expect((await read()).statusCode).toBe(200);
      await app.advance(pauseMs);
    }

    const refused = await read();
    await app.advance(47_000);
    const tooSoon = await read();
    await app.advance(1000);
    const inTime = await read();
    const again = await read();

    expect(refused.json()).toMatchObject({ status: 429, code: 'rate_limited', retry_after: 48 });
    expect(refused.headers['retry-after']).toBe('48');
    expect(readRateLimit(refused)).toEqual({
      policy,
      quota: 3,
      windowSeconds: 60,
      remaining: 0,
      resetSeconds: 48,
    });
    expect([tooSoon.statusCode, tooSoon.headers['retry-after']]).toEqual([429, '1']);
    expect(inTime.statusCode).toBe(200);
    expect([again.statusCode, readRateLimit(again)]).toMatchObject([
      200,
      { remaining: 1, resetSeconds: 60 },
    ]);
  });

  clause('read.errors.rate_limit')(
    'still serves cached replies, and does not affect other callers',
    async () => {
      const { app } = await setUp(env);
      await requestFrom(app, '/search?q=kept');
      const refused = await exhaust(app);

      const kept = await requestFrom(app, '/search?q=kept');
      const other = await requestFrom(app, '/search?q=new', { from: '192.0.2.2' });

      expect(refused.headers['cache-control']).toBe('no-store');
      expect([kept.statusCode, kept.headers['x-cache']]).toEqual([200, 'hit']);
      expect(readRateLimit(kept).remaining).toBe(0);
      expect(other.statusCode).toBe(200);
    },
  );

  it('begins a window with the first unit, and is whole again when the window ends', async () => {
    const { app } = await setUp(env);
    await requestFrom(app, '/search?q=first');
    await app.advance(59_999);
    expect((await exhaust(app)).headers['retry-after']).toBe('1');

    await app.advance(1);
    const atBorder = await requestFrom(app, '/search?q=new');

    expect(atBorder.statusCode).toBe(200);
    expect(readRateLimit(atBorder)).toMatchObject({ remaining: 2, resetSeconds: 60 });
    expect((await exhaust(app)).headers['retry-after']).toBe('60');
  });

  it('sends no request to the upstream, and serves no stale reply', async () => {
    const { app, source } = await setUp({ ...env, PERCH_STALE_WHILE_REVALIDATE_SECONDS: '0' });
    await requestFrom(app, '/search?q=old');
    await app.advance(70_000);
    await exhaust(app);
    const { asked } = source;

    const { statusCode } = await requestFrom(app, '/search?q=old');

    expect([statusCode, source.asked]).toEqual([429, asked]);
  });
});

describe('the rate limit fields', () => {
  const whole = {
    public: { policy: 'public', quota: 60, windowSeconds: 60 },
    key: { policy: 'key', quota: 600, windowSeconds: 60 },
    post: { policy: 'post', quota: 600, windowSeconds: 60 },
  };
  const few = { ...whole.public, quota: 6 };

  clause('read.limits.public_allowance_search_and_browse').each(browseRequests)(
    'are in every reply of the browse surface: $name',
    async ({ url, missingUrl }) => {
      const { app, source } = await setUp({ PERCH_PUBLIC_ALLOWANCE: '6' });
      const key = await app.createKey();
      const etag = String((await requestFrom(app, url)).headers.etag);
      const replies: readonly (readonly [number, string, ClientRequest])[] = [
        [200, url, {}],
        [200, url, { method: 'HEAD' }],
        [304, url, { headers: { 'if-none-match': etag } }],
        [200, `${url}&nocache=true`, {}],
        [400, `${url}&format=nonsense`, {}],
        [400, url, { headers: bearer('x'.repeat(5000)) }],
        [401, url, { headers: bearer(unknownKey) }],
        [405, url, { method: 'POST' }],
      ];

      for (const [status, path, asking] of replies) {
        const reply = await requestFrom(app, path, asking);
        expect([path, reply.statusCode]).toEqual([path, status]);
        expect(readRateLimit(reply)).toMatchObject(few);
      }
      const keyed = await requestFrom(app, url, { headers: key.headers });
      expect(readRateLimit(keyed)).toEqual({ ...whole.key, remaining: 600, resetSeconds: 60 });
      source.failure = 'missing';
      const missing = await requestFrom(app, missingUrl ?? '/nobody');
      expect([missing.statusCode, readRateLimit(missing)]).toMatchObject([404, few]);
      source.failure = null;
      await exhaust(app);
      const over = await requestFrom(app, `${url}&nocache=true`);
      expect(over.statusCode).toBe(429);
      expect(readRateLimit(over)).toEqual({ ...few, remaining: 0, resetSeconds: 60 });
    },
  );

  it.each(postRequests)('are in every reply to a post: $name', async ({ url, missingUrl }) => {
    const { app, source } = await setUp();
    const etag = String((await requestFrom(app, url)).headers.etag);
    const replies: readonly (readonly [number, string, ClientRequest])[] = [
      [200, url, { method: 'HEAD' }],
      [304, url, { headers: { 'if-none-match': etag } }],
      [200, url, { headers: bearer(unknownKey) }],
      [200, url, { headers: bearer('x'.repeat(5000)) }],
      [405, url, { method: 'POST' }],
      [url.includes('oembed') ? 501 : 400, `${url}&format=nonsense`, {}],
    ];

    for (const [status, path, asking] of replies) {
      const reply = await requestFrom(app, path, asking);
      expect([path, reply.statusCode]).toEqual([path, status]);
      expect(readRateLimit(reply)).toMatchObject(whole.post);
    }
    source.failure = 'missing';
    const missing = await requestFrom(app, missingUrl ?? '');
    expect([missing.statusCode, readRateLimit(missing)]).toMatchObject([404, whole.post]);
  });

  it('are in replies about a failing or overloaded server', async () => {
    const { app, source } = await setUp();
    source.failure = 'unavailable';
    const overloaded = await buildTestApp({ load: { isHigh: true, close: () => undefined } });

    const down = await requestFrom(app, '/search?q=fog');
    const shed = await requestFrom(overloaded, '/search?q=fog');

    expect([down.statusCode, shed.statusCode]).toEqual([503, 503]);
    for (const reply of [down, shed]) {
      expect(readRateLimit(reply)).toEqual({ ...whole.public, remaining: 60, resetSeconds: 60 });
    }
  });

  it('are not in replies of other routes', async () => {
    const { app } = await setUp();

    for (const url of ['/health/ready', '/api/v1/nothing', '/favicon.ico']) {
      const { headers } = await app.request(url);
      expect([headers.ratelimit, headers['ratelimit-policy']]).toEqual([undefined, undefined]);
    }
  });

  it('count down the remaining units and the seconds until the window ends', async () => {
    const { app } = await setUp({ PERCH_PUBLIC_ALLOWANCE: '5' });
    const told: (readonly number[])[] = [];
    const ask = async (url: string, pauseMs: number) => {
      const { remaining, resetSeconds } = readRateLimit(await requestFrom(app, url));
      told.push([remaining, resetSeconds]);
      await app.advance(pauseMs);
    };

    await ask('/api/browse?resource=nonsense', 0);
    await ask('/search?q=a', 10_000);
    await ask('/search?q=a', 1);
    await ask('/search?q=b', 999);
    await ask('/search?q=b', 48_999);
    await ask('/search?q=b', 1);
    await ask('/search?q=b&feed=nonsense', 10_000);
    await ask('/search?feed=nonsense', 1);
    await ask('/search?feed=nonsense', 0);

    expect(told).toEqual([
      [5, 60],
      [4, 60],
      [4, 50],
      [3, 50],
      [3, 49],
      [3, 1],
      [5, 60],
      [5, 60],
      [5, 60],
    ]);
  });
});

describe('the sizes of allowances', () => {
  it('match the configuration', async () => {
    const { app } = await setUp({
      PERCH_PUBLIC_ALLOWANCE: '2',
      PERCH_KEY_ALLOWANCE: '4',
      PERCH_POST_ALLOWANCE: '3',
      PERCH_ALLOWANCE_WINDOW_SECONDS: '10',
    });
    const { headers } = await app.createKey();

    const refused = [
      await exhaust(app),
      await exhaust(app, { headers }),
      await exhaust(app, {}, '/wren/status/20?full=1'),
    ];

    expect(refused.map(readRateLimit)).toEqual([
      { policy: 'public', quota: 2, windowSeconds: 10, remaining: 0, resetSeconds: 10 },
      { policy: 'key', quota: 4, windowSeconds: 10, remaining: 0, resetSeconds: 10 },
      { policy: 'post', quota: 3, windowSeconds: 10, remaining: 0, resetSeconds: 10 },
    ]);
    await app.advance(10_000);
    expect((await requestFrom(app, '/search?q=new')).statusCode).toBe(200);
  });

  async function expectLargerWithKey({ url }: RowRequest): Promise<void> {
    const { app } = await setUp({ PERCH_PUBLIC_ALLOWANCE: '2', PERCH_KEY_ALLOWANCE: '5' });
    const { headers } = await app.createKey();
    const read = async (asking: ClientRequest) => {
      const reply = await requestFrom(app, `${url}&nocache=true`, asking);
      const { policy, remaining } = readRateLimit(reply);
      return [reply.statusCode, reply.headers['x-api-key-status'], policy, remaining];
    };

    for (const left of [1, 0]) {
      expect(await read({})).toEqual([200, 'anonymous', 'public', left]);
    }
    expect(await read({})).toEqual([429, 'anonymous', 'public', 0]);
    for (const left of [4, 3, 2, 1, 0]) {
      expect(await read({ headers })).toEqual([200, 'valid', 'key', left]);
    }
    expect(await read({ headers, from: '192.0.2.9' })).toEqual([429, 'valid', 'key', 0]);
  }

  const isSearch = ({ name }: RowRequest) => name.endsWith('search');

  clause('read.auth.key_affects_search', 'read.auth.key_raises_search_allowance').each(
    browseRequests.filter(isSearch),
  )('are larger with a key, at the same address: $name', expectLargerWithKey);

  clause(
    'read.auth.key_affects_profiles',
    'read.key_status.valid',
    'read.key_status.anonymous',
  ).each(browseRequests.filter((request) => !isSearch(request)))(
    'are larger with a key, at the same address: $name',
    expectLargerWithKey,
  );

  it('are those of the key if it has its own allowance', async () => {
    const { app } = await setUp({ PERCH_KEY_ALLOWANCE: '4' });
    const small = await app.createKey({ allowance: 2 });
    const large = await app.createKey({ allowance: 7 });
    const plain = await app.createKey();

    const refused = [
      await exhaust(app, small),
      await exhaust(app, large),
      await exhaust(app, plain),
    ];

    expect(refused.map((reply) => readRateLimit(reply).quota)).toEqual([2, 7, 4]);
  });

  it('change with the key immediately, also below the units already spent', async () => {
    const { app } = await setUp({ PERCH_KEY_ALLOWANCE: '4' });
    const key = await app.createKey({ allowance: 5 });
    const read = async () => {
      const reply = await requestFrom(app, '/search?q=fog&nocache=true', key);
      const { quota, remaining, resetSeconds } = readRateLimit(reply);
      return [reply.statusCode, quota, remaining, resetSeconds, reply.headers['retry-after']];
    };
    for (const [left, resetSeconds] of [
      [4, 60],
      [3, 50],
      [2, 40],
    ]) {
      expect(await read()).toEqual([200, 5, left, resetSeconds, undefined]);
      await app.advance(10_000);
    }

    expect((await changeAllowance(app, key, 2)).statusCode).toBe(200);
    expect(await read()).toEqual([429, 2, 0, 30, '30']);
    expect((await changeAllowance(app, key, null)).statusCode).toBe(200);
    expect(await read()).toEqual([200, 4, 0, 30, undefined]);
    expect((await changeAllowance(app, key, 6)).statusCode).toBe(200);
    expect(await read()).toEqual([200, 6, 1, 30, undefined]);
  });

  clause('read.auth.readable_without_key')('are the only difference that a key makes', async () => {
    // Cursors are signed, and the bodies have them.
    const env = { PERCH_PROVIDERS: 'archive', PERCH_CURSOR_KEY: 'k'.repeat(32) };
    const [keyless, keyed] = [await buildTestApp({ env }), await buildTestApp({ env })];
    const { headers } = await keyed.createKey();

    for (const { url } of [...browseRequests, ...postRequests]) {
      const without = await requestFrom(keyless, `${url}&format=json`);
      const having = await requestFrom(keyed, `${url}&format=json`, { headers });
      expect([without.statusCode, without.body]).toEqual([200, having.body]);
    }
  });

  clause('read.key_status.unverified')(
    'are those of the address if the key store cannot be read',
    async () => {
      const folder = temporaryFolder();
      mkdirSync(`${folder}/perch.db`);
      const { app } = await setUp({ PERCH_DATA_DIR: folder, PERCH_PUBLIC_ALLOWANCE: '3' });
      const unverified = { headers: bearer(unknownKey) };
      const read = async (asking: ClientRequest) => {
        const reply = await requestFrom(app, '/search?q=fog&nocache=true', asking);
        const { policy, remaining } = readRateLimit(reply);
        return [reply.statusCode, reply.headers['x-api-key-status'], policy, remaining];
      };

      expect(await read(unverified)).toEqual([200, 'unverified', 'public', 2]);
      expect(await read({})).toEqual([200, 'anonymous', 'public', 1]);
      expect(await read(unverified)).toEqual([200, 'unverified', 'public', 0]);
      expect(await read(unverified)).toEqual([429, 'unverified', 'public', 0]);
      expect(await read({})).toEqual([429, 'anonymous', 'public', 0]);
    },
  );
});

describe('the ceiling of posts', () => {
  const env = {
    PERCH_PUBLIC_ALLOWANCE: '2',
    PERCH_POST_ALLOWANCE: '3',
  };

  clause('read.limits.conversion_unaffected_by_keys').each(postRequests)(
    'is the same with a key, a wrong one and none: $name',
    async ({ url }) => {
      const { app } = await setUp(env);
      const { headers } = await app.createKey({ allowance: 1000 });
      const read = async (asking: ClientRequest) => {
        const reply = await requestFrom(app, `${url}&nocache=true`, asking);
        const { policy, quota, remaining } = readRateLimit(reply);
        return [reply.statusCode, policy, quota, remaining];
      };

      expect(await read({ headers })).toEqual([200, 'post', 3, 2]);
      expect(await read({ headers: bearer(unknownKey) })).toEqual([200, 'post', 3, 1]);
      expect(await read({})).toEqual([200, 'post', 3, 0]);
      expect(await read({ headers })).toEqual([429, 'post', 3, 0]);
      expect(await read({ from: '192.0.2.2' })).toEqual([200, 'post', 3, 2]);
    },
  );

  it('is independent of browse reads', async () => {
    const { app } = await setUp(env);
    await exhaust(app);

    const post = await requestFrom(app, '/wren/status/20');
    const refused = await exhaust(app, {}, '/wren/status/20?full=1');
    await app.advance(60_000);
    await exhaust(app, {}, '/wren/status/20?full=1');
    const browse = await requestFrom(app, '/search?q=new');

    expect([post.statusCode, readRateLimit(post).remaining]).toEqual([200, 2]);
    expect(readRateLimit(refused)).toMatchObject({ policy: 'post', quota: 3 });
    expect([browse.statusCode, readRateLimit(browse).remaining]).toEqual([200, 1]);
  });
});
