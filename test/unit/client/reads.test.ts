import { expect, it, vi } from 'vitest';
import {
  type CachedReply,
  createPerch,
  type Deprecation,
  type PerchOptions,
} from '../../../clients/typescript/src/index.ts';
import {
  broken,
  createFakeFetch,
  createSkippingClock,
  type FakeFetch,
  json,
  problem,
  silence,
} from '../../support/fake-fetch.ts';

/** Creates a client without a network, whose random numbers are 0.5. */
function createClient({ fetch }: FakeFetch, options: Partial<PerchOptions> = {}) {
  const clock = createSkippingClock();
  const perch = createPerch({
    baseUrl: 'http://perch.test/',
    fetch,
    clock,
    random: () => 0.5,
    ...options,
  });
  return { perch, clock };
}

const page = (nextCursor?: string, ...ids: string[]) =>
  json({ posts: ids.map((id) => ({ id })), ...(nextCursor === undefined ? {} : { nextCursor }) });

it('sends the parameters of a read, and the key', async () => {
  const fake = createFakeFetch(json({ posts: [] }));
  const { perch } = createClient(fake, { apiKey: 'perch_1' });

  await perch.posts.get('https://x.com/jack/status/20', { thread: 'off', replies: undefined });
  await perch.posts.get({ handle: 'jack', id: '20' });
  await perch.profiles.get('user@host/x', { limit: 3 });

  expect(fake.sent.map(({ url }) => url)).toEqual([
    'http://perch.test/api/v1/posts?thread=off&url=https%3A%2F%2Fx.com%2Fjack%2Fstatus%2F20&format=json',
    'http://perch.test/api/v1/posts?handle=jack&id=20&format=json',
    'http://perch.test/api/v1/profiles/user%40host%2Fx?limit=3&format=json',
  ]);
  expect(fake.sent[0]?.headers).toEqual({
    accept: 'application/json',
    authorization: 'Bearer perch_1',
  });
});

it('throws the problem of the server with its code and resolution', async () => {
  const { perch, clock } = createClient(createFakeFetch(problem('not_found', 404)));

  await expect(perch.profiles.get('nobody')).rejects.toMatchObject({
    name: 'ProblemError',
    code: 'not_found',
    status: 404,
    message: 'The request failed with not_found.',
    resolution: 'Do something else.',
    requestId: 'req-1',
    retryAfterMs: undefined,
  });
  expect(clock.slept).toEqual([]);
});

it.each([
  ['a broken connection', broken, [375, 750]],
  ['429', problem('rate_limited', 429, 7), [7250, 7250]],
  ['503', problem('upstream_unavailable', 503, 30), [30_250, 30_250].slice(0, 1)],
  ['503 of a proxy', json('busy', { 'retry-after': '2' }, 503), [2250, 2250]],
  ['502 of a proxy', json('bad gateway', {}, 502), [375, 750]],
] as const)('retries after %s', async (_, failure, waits) => {
  const failures = waits.map(() => failure);
  const fake = createFakeFetch(failure, ...failures.slice(1), json({ posts: [] }));
  const { perch, clock } = createClient(fake);

  await perch.posts.get('https://x.com/jack/status/20');

  expect(clock.slept).toEqual(waits);
});

it.each([
  ['400', problem('invalid_url', 400)],
  ['401', problem('invalid_key', 401)],
  ['500', problem('internal_error', 500)],
  ['502', problem('upstream_error', 502)],
])('does not retry after %s', async (_, failure) => {
  const fake = createFakeFetch(failure);
  const { perch } = createClient(fake);

  await expect(perch.posts.get('https://x.com/jack/status/20')).rejects.toThrow('failed with');
  expect(fake.sent).toHaveLength(1);
});

it('gives up after the last retry, and waits longer each time', async () => {
  const fake = createFakeFetch(broken);
  const { perch, clock } = createClient(fake);

  await expect(perch.posts.get('https://x.com/jack/status/20')).rejects.toMatchObject({
    code: 'connection_failed',
    message: 'The server at http://perch.test does not respond.',
    cause: expect.any(TypeError),
  });
  expect(fake.sent).toHaveLength(5);
  expect(clock.slept).toEqual([375, 750, 1500, 3000]);
});

it('throws the problem at once if the wait would exceed the deadline', async () => {
  const fake = createFakeFetch(problem('rate_limited', 429, 90));
  const { perch, clock } = createClient(fake);

  const read = perch.posts.get('https://x.com/jack/status/20');

  await expect(read).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 90_000 });
  expect(clock.slept).toEqual([]);
});

it('stops at the deadline if the server sends nothing', async () => {
  const fake = createFakeFetch(silence);
  const { perch, clock } = createClient(fake);

  const read = perch.posts.get('https://x.com/jack/status/20', {}, { deadlineMs: 40_000 });

  await expect(read).rejects.toMatchObject({
    code: 'deadline_exceeded',
    cause: { code: 'no_response' },
  });
  expect(clock.now()).toBe(40_000);
});

it('throws the reason of a call that is cancelled before it begins', async () => {
  const fake = createFakeFetch(json({ posts: [] }));
  const { perch } = createClient(fake);
  const signal = AbortSignal.abort(new Error('no longer needed'));

  await expect(perch.profiles.get('jack', {}, { signal })).rejects.toThrow('no longer needed');
  expect(fake.sent).toEqual([]);
});

it.each([
  ['the response', silence],
  ['a retry', problem('rate_limited', 429, 7)],
] as const)(
  'throws the reason of a call that is cancelled during the wait for %s',
  async (_, reply) => {
    const cancelled = new AbortController();
    const fake = createFakeFetch(reply);
    const perch = createPerch({ baseUrl: 'http://perch.test', fetch: fake.fetch });
    const read = perch.profiles.get('jack', {}, { signal: cancelled.signal });
    await vi.waitFor(() => expect(fake.sent).toHaveLength(1));

    setTimeout(() => cancelled.abort(new Error('no longer needed')), 20);

    await expect(read).rejects.toThrow('no longer needed');
  },
);

it.each([
  ['text', 'hello'],
  ['a truncated object', '{"posts":'],
])('reports a response that is %s', async (_, text) => {
  const fake = createFakeFetch(() => new Response(text));
  const { perch } = createClient(fake);

  await expect(perch.profiles.get('jack')).rejects.toMatchObject({ code: 'unexpected_response' });
});

it('reads a list page by page, only as far as the loop goes', async () => {
  const fake = createFakeFetch(page('c2', 'a', 'b'), page('c3', 'c'), page(undefined, 'd'));
  const { perch } = createClient(fake);
  const ids: unknown[] = [];

  for await (const { id } of perch.search.posts('heron', { page: 1 })) {
    ids.push(id);
    if (id === 'c') break;
  }

  expect(ids).toEqual(['a', 'b', 'c']);
  expect(fake.sent.map(({ url }) => new URL(url).search)).toEqual([
    '?page=1&q=heron&format=json',
    '?q=heron&cursor=c2&format=json',
  ]);
});

it('continues a list at a cursor', async () => {
  const fake = createFakeFetch(page('c2', 'a'), page(undefined, 'b'));
  const { perch } = createClient(fake);
  let cursor: string | undefined;
  for await (const { nextCursor } of perch.profiles.followers('jack').pages()) {
    cursor = nextCursor;
    break;
  }

  const rest = perch.profiles.followers('jack', { cursor });
  const pages = [];
  for await (const { nextCursor } of rest.pages()) pages.push(nextCursor);

  expect(pages).toEqual([undefined]);
  expect(fake.sent[1]?.url).toContain('cursor=c2');
});

it.each([
  ['the same cursor again', [page('c2', 'a'), page('c2', 'b')], 2],
  ['a cycle of cursors', [page('c2', 'a'), page('c3', 'b'), page('c2', 'c')], 3],
  ['the cursor of the request', [page('c1', 'a')], 1],
] as const)('stops a list with %s', async (_, [first, ...others], requests) => {
  const fake = createFakeFetch(first, ...others);
  const { perch } = createClient(fake);
  const read = async () => {
    for await (const _post of perch.search.posts('heron', { cursor: 'c1' }));
  };

  await expect(read()).rejects.toMatchObject({ code: 'repeated_cursor' });
  expect(fake.sent).toHaveLength(requests);
});

it('searches accounts with the feed of accounts', async () => {
  const fake = createFakeFetch(json({ users: [{ id: 'a' }] }));
  const { perch } = createClient(fake);
  const ids: string[] = [];

  for await (const { id } of perch.search.users('ada')) ids.push(id);

  expect(ids).toEqual(['a']);
  expect(fake.sent[0]?.url).toContain('q=ada&feed=users');
});

it('waits when the allowance is used up, separately for posts and other reads', async () => {
  const used = { ratelimit: '"public";r=1;t=20' };
  const fake = createFakeFetch(json({ posts: [] }, used));
  const { perch, clock } = createClient(fake);

  await perch.profiles.get('a');
  await perch.profiles.get('b');
  expect(clock.slept).toEqual([]);
  await Promise.all([perch.profiles.get('c'), perch.profiles.get('d')]);
  expect(clock.slept).toEqual([20_000]);
  await perch.posts.get('https://x.com/jack/status/20');
  expect(clock.slept).toEqual([20_000]);
});

it.each([
  ['without pacing', { pacing: false }],
  ['if the wait would exceed the deadline', { deadlineMs: 19_000 }],
])('does not wait for the allowance %s', async (_, options) => {
  const fake = createFakeFetch(json({ posts: [] }, { ratelimit: '"public";r=0;t=20' }));
  const { perch, clock } = createClient(fake, options);

  await perch.profiles.get('a');
  await perch.profiles.get('b');

  expect(clock.slept).toEqual([]);
});

it('stores replies with an ETag, and returns them after 304', async () => {
  const cache = new Map<string, CachedReply>();
  const fake = createFakeFetch(
    json({ posts: [{ id: '20' }] }, { etag: '"v1"', 'cache-control': 'public, max-age=60' }),
    () => new Response(null, { status: 304, headers: { etag: '"v1"' } }),
  );
  const { perch } = createClient(fake, { cache });

  const first = await perch.posts.get('https://x.com/jack/status/20');
  const second = await perch.posts.get('https://x.com/jack/status/20');

  expect(second).toEqual(first);
  expect(fake.sent.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"v1"']);
  expect([...cache.values()]).toEqual([{ etag: '"v1"', body: '{"posts":[{"id":"20"}]}' }]);
});

it('does not store replies that must not be stored', async () => {
  const cache = new Map<string, CachedReply>();
  const headers = { etag: '"v1"', 'cache-control': 'private, no-store' };
  const { perch } = createClient(createFakeFetch(json({}, headers)), { cache });

  await perch.profiles.get('jack');

  expect(cache.size).toBe(0);
});

it('reports a deprecated operation once', async () => {
  const found: Deprecation[] = [];
  const fake = createFakeFetch(
    json(
      { posts: [] },
      {
        deprecation: '@1789430400',
        sunset: 'Wed, 15 Sep 2027 00:00:00 GMT',
        link: '<http://perch.test/api/v2/posts>; rel="successor-version", <http://perch.test/docs/versioning>; rel="sunset"',
      },
    ),
  );
  const { perch } = createClient(fake, { onDeprecation: (one) => found.push(one) });

  await perch.posts.get('https://x.com/jack/status/20');
  await perch.posts.get('https://x.com/jack/status/21');

  expect(found).toEqual([
    {
      url: expect.stringContaining('/api/v1/posts?'),
      deprecatedAt: new Date('2026-09-15T00:00:00Z'),
      sunsetAt: new Date('2027-09-15T00:00:00Z'),
      successor: 'http://perch.test/api/v2/posts',
    },
  ]);
});

it.each(['', '@', '@9x', 'true'])('ignores the header Deprecation: %j', async (deprecation) => {
  const found: Deprecation[] = [];
  const fake = createFakeFetch(json({ posts: [] }, { deprecation }));
  const { perch } = createClient(fake, { onDeprecation: (one) => found.push(one) });

  await perch.profiles.get('jack');

  expect(found).toEqual([]);
});
