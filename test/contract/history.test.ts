import { describe, expect, it } from 'vitest';
import { historyMetaLine, historyReply } from '../../src/model/history.ts';
import type { Post, Status } from '../../src/model/post.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { buildTestApp, shareTestApp } from '../support/build-app.ts';
import { stubAccount, stubPost } from '../support/stub-provider.ts';

const app = shareTestApp();
const path = '/api/v1/profiles/ada.example/posts';

function createTimelineOf(items: readonly Post[]): Provider {
  return {
    name: 'stub',
    platforms: ['x'],
    reads: new Set(['profile', 'timeline']),
    covers: () => true,
    fetch: {
      profile: async () => ({ account: stubAccount('wren'), warnings: [] }),
      timeline: async () => ({ items, cursor: null, warnings: [], isExact: true }),
    },
  };
}

function readLines(body: string): readonly Record<string, unknown>[] {
  expect(body).toMatch(/\n$/);
  return body
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('a history as JSON', () => {
  it('has all posts of the account, newest first, with floor_reached', async () => {
    const reply = await app.request(path);

    expect([reply.statusCode, reply.headers['content-type']]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    const body = historyReply.parse(reply.json());
    expect(body).toMatchObject({
      resource: 'history',
      handle: 'ada.example',
      profile: { screen_name: 'ada.example' },
      meta: { count: 30, truncated: false, floor_reached: true, gaps: [], uncertain: [] },
      warnings: [],
      source: 'archive',
    });
    expect(body.posts).toHaveLength(30);
    const own = reply
      .json()
      .posts.filter(({ reposted_by }: Status) => reposted_by === null) as readonly Status[];
    const seconds = own.map(({ created_timestamp }) => created_timestamp);
    expect(seconds).toEqual(seconds.toSorted((a, b) => b - a));
    expect(Date.parse(body.meta.newest ?? '')).toBe((seconds[0] ?? 0) * 1000);
  });

  it('has the same body at the permalink, except for the duration', async () => {
    const [v1, permalink] = [await app.request(path), await app.request('/ada.example/posts')];

    const of = (reply: { json(): { meta: object } }) => ({
      ...reply.json(),
      meta: { ...reply.json().meta, duration_ms: 0 },
    });
    expect(of(permalink)).toEqual(of(v1));
  });

  it('can be continued with next_until to its end, without gaps', async () => {
    const whole = (await app.request(path)).json();

    const found = new Map<string, unknown>();
    let until = '';
    for (let times = 0; times < 20; times += 1) {
      const { posts, meta } = (await app.request(`${path}?max_posts=4${until}`)).json();
      expect(meta.truncated).toBe(meta.next_until !== undefined);
      for (const post of posts) found.set(post.id, post);
      if (meta.next_until === undefined) break;
      until = `&until=${meta.next_until}`;
    }

    expect([...found.keys()]).toEqual(whole.posts.map(({ id }: { id: string }) => id));
  });

  it('has the posts from `since` on and before `until`', async () => {
    const [since, until] = ['2026-04-18T06:31:00Z', '2026-04-18T11:26:33Z'];

    const { posts, meta } = (
      await app.request(`${path}?since=${since}&until=${until}&with_reposts=false`)
    ).json();

    expect(meta).toMatchObject({ count: 9, oldest: since, floor_reached: true, truncated: false });
    expect(posts[0].created_at < until).toBe(true);
  });

  it('omits replies and reposts, or includes only replies', async () => {
    const read = async (query: string) => (await app.request(`${path}?${query}`)).json().posts;
    const idsOf = (posts: readonly { id: string }[]) => posts.map(({ id }) => id);

    const all = await read('with_reposts=false');
    const others = await read('with_reposts=no&with_replies=0');
    const replies = await read('only_replies=true');

    expect(replies.length).toBeGreaterThan(0);
    expect(new Set([...idsOf(others), ...idsOf(replies)])).toEqual(new Set(idsOf(all)));
    expect(others.length + replies.length).toBe(all.length);
    for (const post of replies) {
      expect(post.replying_to.screen_name).not.toBe('ada.example');
      expect(post.reposted_by).toBeNull();
    }
  });
});

describe('the meta of a history', () => {
  const options = {
    ...{ handle: 'ada.example', since: null, until: null, max_posts: 500 },
    ...{
      with_replies: true,
      with_reposts: true,
      only_replies: false,
      index: false,
      nocache: false,
    },
  };

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['', {}],
    [
      'since=2026-04-18&until=1776520800',
      { since: '2026-04-18T00:00:00Z', until: '2026-04-18T14:00:00Z' },
    ],
    ['max_posts=3&with_replies=no', { max_posts: 3, with_replies: false }],
    ['only_replies=1', { only_replies: true, with_reposts: false }],
    ['index=true&nocache=yes', { index: true, nocache: true }],
  ])('names the account and the effective options: %s', async (query, changed) => {
    const json = await app.request(`/api/v1/profiles/@ADA.example/posts?${query}`);
    const lines = readLines((await app.request(`${path}?${query}&format=ndjson`)).body);

    expect(json.json().meta).toMatchObject({ ...options, ...changed });
    expect(lines.at(-1)?.meta).toMatchObject({ ...options, ...changed });
  });
});

describe('an index of a history', () => {
  it.each(['', 'only_replies=true', 'with_reposts=no&max_posts=4'])(
    'has the ids and times of the posts, and marks reposts: %s',
    async (query) => {
      const index = `${path}?${query}&index=true`;
      const whole = (await app.request(`${path}?${query}`)).json();

      const body = historyReply.parse((await app.request(index)).json());
      const lines = readLines((await app.request(`${index}&format=ndjson`)).body);

      const entries = (whole.posts as readonly Status[]).map(({ reposted_by, ...post }) => ({
        id: post.id,
        url: post.url,
        created_at: post.created_at,
        created_timestamp: post.created_timestamp,
        repost: reposted_by !== null,
      }));
      expect(entries.some(({ repost }) => repost)).toBe(query === '');
      expect(body.posts).toEqual(entries);
      expect(lines.slice(0, -1)).toEqual(entries.map((post) => ({ post })));
      expect(body.meta).toEqual({ ...whole.meta, index: true, duration_ms: expect.any(Number) });
    },
  );

  it('is small even if the posts are too large for one document', async () => {
    const text = 'x'.repeat(200_000);
    const posts = Array.from({ length: 100 }, (_, index) =>
      stubPost(String(900 - index), { text }),
    );
    const app = await buildTestApp({ providers: [createTimelineOf(posts)] });

    const whole = await app.request('/api/v1/profiles/wren/posts');
    const index = await app.request('/api/v1/profiles/wren/posts?index=true');

    expect(whole.statusCode).toBe(400);
    expect([index.statusCode, index.json().meta.count]).toEqual([200, 100]);
    expect(index.body.length).toBeLessThan(20_000);
  });
});

describe('a history as NDJSON', () => {
  it.each([
    ['by `format`', `${path}?format=ndjson`, {}],
    ['by `Accept`', path, { accept: 'application/x-ndjson' }],
    ['by its other name', path, { accept: 'application/ndjson, application/json;q=0.5' }],
  ])('has a post on each line and meta on the last: %s', async (_, url, headers) => {
    const json = (await app.request(path)).json();

    const reply = await app.request(url, { headers });

    expect(reply.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
    const lines = readLines(reply.body);
    expect(lines.slice(0, -1)).toEqual(json.posts.map((post: unknown) => ({ post })));
    const last = historyMetaLine.parse(lines.at(-1));
    expect(Object.keys(lines.at(-1) ?? {})).toEqual(['meta']);
    expect(last.meta).toMatchObject({ count: 30, floor_reached: true, warnings: [] });
  });

  it('is not selected if JSON is preferred', async () => {
    const accept = 'application/json, application/x-ndjson;q=0.9';

    const reply = await app.request(path, { headers: { accept } });

    expect(reply.headers['content-type']).toBe('application/json; charset=utf-8');
  });
});

describe('a request for a history', () => {
  it.each([
    [
      'since=2026-02-01&until=2026-01-01',
      'invalid_option',
      /`since` must be a time before `until`/,
    ],
    ['since=yesterday', 'invalid_option', /`since`/],
    ['until=9e9', 'invalid_option', /`until`/],
    ['max_posts=0', 'invalid_option', /`max_posts`.*1 to 5000/],
    ['max_posts=5001', 'invalid_option', /`max_posts`.*1 to 5000/],
    ['with_replies=perhaps', 'invalid_option', /`with_replies`/],
    ['with_reposts=', 'invalid_option', /`with_reposts`/],
    [
      'only_replies=true&with_replies=false',
      'invalid_option',
      /`only_replies`.*with_replies=false/,
    ],
    ['only_replies=true&with_reposts=true', 'invalid_option', /`with_reposts`.*only_replies=true/],
    ['max_posts=5&max_posts=6', 'invalid_option', /`max_posts` is given more than once/],
    ['format=markdown', 'invalid_format', /`format`.*`json`, `ndjson`, `atom`/],
    ['nocache=2', 'invalid_option', /`nocache`/],
    ['index=perhaps', 'invalid_option', /`index`/],
  ])('is rejected: %s', async (query, code, detail) => {
    const reply = await app.request(
      `${path}?${query}&format=ndjson`.replace(/(format=.*)&format=.*/, '$1'),
    );

    expect([reply.statusCode, reply.json().code]).toEqual([400, code]);
    expect(reply.json().detail).toMatch(detail);
  });

  it.each([
    ['/api/v1/profiles/a%20b/posts', 400, 'invalid_handle'],
    ['/api/v1/profiles/nobody.example/posts?format=ndjson', 404, 'not_found'],
    ['/api/v1/profiles/jack/posts?format=ndjson', 503, 'upstream_unavailable'],
    ['/metrics/posts', 404, 'route_not_found'],
  ])('gets a problem before the first byte: %s', async (url, status, code) => {
    const reply = await app.request(url);

    expect([reply.statusCode, reply.headers['content-type']]).toEqual([
      status,
      'application/problem+json; charset=utf-8',
    ]);
    expect(reply.json().code).toBe(code);
  });

  it('costs one unit, and uses the key', async () => {
    const app = await buildTestApp({ env: { PERCH_PUBLIC_ALLOWANCE: '2' } });
    const key = await app.createKey();

    const first = await app.request(path);
    const keyed = await app.request(path, { headers: key.headers });
    const unknown = await app.request(path, {
      headers: { authorization: `Bearer perch_${'u'.repeat(43)}` },
    });
    await app.request(path);
    const spent = await app.request(path);

    expect(first.headers).toMatchObject({
      'x-api-key-status': 'anonymous',
      'cache-control': 'no-store',
      'x-source': 'archive',
      ratelimit: expect.stringMatching(/^"public";r=1;/),
    });
    expect(keyed.headers).toMatchObject({
      'x-api-key-status': 'valid',
      'cache-control': 'private, no-store',
    });
    expect([unknown.statusCode, unknown.json().code]).toEqual([401, 'invalid_key']);
    expect([spent.statusCode, spent.json().code]).toEqual([429, 'rate_limited']);
  });

  it('is rejected under load and during a shutdown', async () => {
    const load = { isHigh: true, close: () => undefined };
    const app = await buildTestApp({ load });

    const busy = await app.request(`${path}?format=ndjson`);
    app.startDraining();
    const stopping = await app.request(path);

    expect([busy.json().code, stopping.json().code]).toEqual(['overloaded', 'shutting_down']);
  });

  it('with HEAD runs no import and costs nothing', async () => {
    const app = await buildTestApp({ env: { PERCH_PUBLIC_ALLOWANCE: '1' } });

    for (const url of [path, '/ada.example/posts?format=ndjson', '/jack/posts']) {
      const reply = await app.request(url, { method: 'HEAD' });
      expect([reply.statusCode, reply.body]).toEqual([200, '']);
      expect(reply.headers.ratelimit).toMatch(/;r=1;/);
    }
    const refused = await app.request(`${path}?max_posts=0`, { method: 'HEAD' });
    expect(refused.statusCode).toBe(400);
  });
});
