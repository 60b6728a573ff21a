import { describe, expect } from 'vitest';
import { listReply } from '../../src/model/results.ts';
import { buildTestApp, shareTestApps, xOnly } from '../support/build-app.ts';
import { clause } from '../support/clause.ts';
import { createFakeList, fullPages } from '../support/fake-list.ts';
import { fillArchive, openImportedArchive } from '../support/imported-archive.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const sharedApp = shareTestApps();
const app = sharedApp();

const profile = '/api/v1/profiles/ada.example';

async function readJson(url: string) {
  const reply = await app.request(url, { headers: { accept: 'application/json' } });
  expect(reply.statusCode, reply.body).toBe(200);
  return listReply.parse(reply.json());
}

describe('the browse reads', () => {
  clause(
    'read.what.browses_profiles_lists_search',
    'read.resources.profile_by_handle',
    'read.v1.profile',
  ).each(['ada.example', '@ada.example', 'ADA.example', '%40Ada.Example'])(
    'reads a profile and its posts by the handle %s',
    async (handle) => {
      const reply = await readJson(`/api/v1/profiles/${handle}?limit=10`);

      expect(reply).toMatchObject({
        resource: 'profile',
        handle: 'ada.example',
        profile: { screen_name: 'ada.example', name: 'Ada Fenwick', platform: 'sample' },
        page: 1,
        limit: 10,
        degraded: false,
        source: 'archive',
        warnings: [],
      });
      expect(reply.posts).toHaveLength(10);
      expect(reply.users).toBeUndefined();
      const times = (reply.posts ?? []).map((post) =>
        post.type === 'status' ? post.created_at : '',
      );
      expect(times).toEqual(times.toSorted().reverse());
      expect(reply.markdown).toMatch(/^# Ada Fenwick \(@ada\.example\)\n/);
      expect(reply.markdown).toContain(
        '[Next page](http://localhost:8080/api/v1/profiles/ada.example?limit=10&cursor=',
      );
    },
  );

  async function expectList(list: 'followers' | 'following'): Promise<void> {
    const reply = await readJson(`${profile}/${list}?limit=4`);

    expect(reply).toMatchObject({ resource: list, handle: 'ada.example', limit: 4 });
    expect(reply.users).toHaveLength(4);
    expect(reply.posts).toBeUndefined();
    expect(reply.nextCursor).toMatch(/^[\w-]+$/);
  }

  clause('read.v1.followers', 'read.resources.followers_list')(
    'reads the followers of an account',
    () => expectList('followers'),
  );

  clause('read.v1.following', 'read.resources.following_list')(
    'reads the accounts that an account follows',
    () => expectList('following'),
  );

  clause(
    'read.resources.search_results',
    'read.v1.search',
    'read.permalink.search_query_q',
  )('reads the results of a search, newest first', async () => {
    const reply = await readJson('/search?q=heron&platform=archive&limit=5');

    expect(reply).toMatchObject({ resource: 'search', query: 'heron', feed: 'latest', limit: 5 });
    expect(reply.posts).toHaveLength(5);
    expect(reply.handle).toBeUndefined();
  });

  clause('read.v1.search_feed_latest').each([
    ['latest', 'latest'],
    ['LATEST', 'latest'],
    ['top', 'top'],
    ['photos', 'photos'],
    ['media', 'photos'],
    ['videos', 'videos'],
    ['users', 'users'],
  ])('accepts the feed %s', async (feed, told) => {
    const reply = await readJson(`/api/v1/search?q=the&platform=archive&feed=${feed}`);

    expect(reply.feed).toBe(told);
    if (told === 'users') expect(reply.users).toBeDefined();
    if (told === 'photos') {
      for (const post of reply.posts ?? []) {
        expect(post.type === 'status' && post.media.photos.length > 0).toBe(true);
      }
    }
  });

  clause(
    'read.permalink.search_same_body',
    'read.what.surfaces_same_bodies',
    'read.what.permalink_surface_mirrors_paths',
  ).each([
    [profile, '/ada.example'],
    [profile, '/@ada.example'],
    [`${profile}/followers`, '/ada.example/followers'],
    [`${profile}/following`, '/ada.example/following'],
    ['/api/v1/search', '/search'],
  ])('returns the same bytes for %s and %s', async (v1, permalink) => {
    for (const query of ['', '&format=json', '&limit=3&full=true', '&page=2&limit=3&format=json']) {
      const given = `?q=heron&platform=archive${query}`;

      const [one, other] = [await app.request(v1 + given), await app.request(permalink + given)];

      expect([one.statusCode, other.statusCode]).toEqual([200, 200]);
      expect(other.body).toBe(one.body);
      expect(other.headers.etag).toBe(one.headers.etag);
    }
  });

  clause('read.v1.profile')(
    'applies with_replies, with_reposts, until and include_posts',
    async () => {
      const [plain, replies, reposts, until, alone] = [
        await readJson(`${profile}?limit=100`),
        await readJson(`${profile}?limit=100&with_replies=yes`),
        await readJson(`${profile}?limit=100&with_reposts=1`),
        await readJson(`${profile}?limit=100&until=2026-05-01`),
        await readJson(`${profile}?include_posts=false`),
      ];

      const count = (reply: typeof plain) => reply.posts?.length ?? 0;
      expect(count(replies)).toBeGreaterThan(count(plain));
      expect(count(reposts)).toBeGreaterThan(count(plain));
      expect(
        reposts.posts?.some((post) => post.type === 'status' && post.reposted_by !== null),
      ).toBe(true);
      expect(count(until)).toBeGreaterThan(0);
      for (const post of until.posts ?? []) {
        expect(post.type === 'status' && post.created_at < '2026-05-01').toBe(true);
      }
      expect(alone.posts).toBeUndefined();
      expect(alone.nextCursor).toBeUndefined();
      expect(alone.profile?.screen_name).toBe('ada.example');
    },
  );

  clause('read.v1.search')('applies since and until in each of their formats', async () => {
    const forms = [
      ['2026-05-01', '2026-06-01'],
      ['2026-05-01T00:00:00Z', '2026-06-01T02:00:00%2B02:00'],
      [String(Date.UTC(2026, 4) / 1000), String(Date.UTC(2026, 5) / 1000)],
    ];
    const replies = await Promise.all(
      forms.map(([since, until]) =>
        readJson(`/search?q=the&platform=archive&limit=100&since=${since}&until=${until}`),
      ),
    );

    const [first, ...others] = replies.map((reply) => reply.posts ?? []);
    expect(first?.length).toBeGreaterThan(0);
    for (const post of first ?? []) {
      expect(post.type === 'status' && post.created_at.startsWith('2026-05')).toBe(true);
    }
    for (const other of others) expect(other).toEqual(first);
  });

  clause('read.v1.profile')('sends the documented headers', async () => {
    const [miss, hit] = [
      await app.request(`${profile}?limit=7`),
      await app.request(`${profile}?limit=7`),
    ];

    expect(miss.headers).toMatchObject({
      'x-cache': 'miss',
      'x-source': 'archive',
      'x-result-count': '7',
      'cache-control': 'public, max-age=60, stale-while-revalidate=300',
      vary: 'Accept, Authorization, Accept-Encoding',
    });
    expect(miss.headers.link).toBe(
      '<http://localhost:8080/api/v1/profiles/ada.example?limit=7&format=atom>; rel="alternate"; type="application/atom+xml"',
    );
    expect(hit.headers['x-cache']).toBe('hit');
    expect(hit.body).toBe(miss.body);
    const known = await app.request(`${profile}?limit=7`, {
      headers: { 'if-none-match': String(miss.headers.etag) },
    });
    expect([known.statusCode, known.body, known.headers.vary]).toEqual([
      304,
      '',
      'Accept, Authorization, Accept-Encoding',
    ]);
  });

  clause('read.v1.search')('falls back to the archive, and warns about it', async () => {
    const folder = temporaryFolder();
    fillArchive(folder, ['x']);
    const app = await buildTestApp({ env: { PERCH_DATA_DIR: folder } });

    const reply = await app.request('/search?q=heron&format=json');
    const page = await app.request('/search?q=heron');

    expect(reply.headers).toMatchObject({ 'x-search-degraded': 'true', 'x-source': 'archive' });
    expect(reply.json()).toMatchObject({ degraded: true, source: 'archive' });
    expect(page.body).toContain('not live');
    const named = await app.request('/search?q=heron&platform=archive&format=json');
    expect(named.headers['x-search-degraded']).toBeUndefined();
    expect(named.json().degraded).toBe(false);
  });

  clause('read.v1.search')('prefers stale results to those of the archive', async () => {
    const list = createFakeList(3, fullPages);
    const archive = openImportedArchive('x');
    const app = await buildTestApp({ providers: [archive, list.provider] });
    const live = await app.request('/search?q=heron&format=json');
    list.isDown = true;
    await app.advance(600_000);

    const stale = await app.request('/search?q=heron&format=json');
    const other = await app.request('/search?q=gate&format=json');

    expect(stale.headers).toMatchObject({ 'x-cache': 'stale', 'x-search-degraded': 'true' });
    expect(stale.json()).toMatchObject({
      source: 'fake',
      degraded: true,
      posts: live.json().posts,
    });
    expect(stale.json().warnings[0]).toContain('Stale');
    expect(other.json()).toMatchObject({ source: 'archive', degraded: true });
  });

  clause('read.v1.search')('searches only the named platform', async () => {
    const list = createFakeList(3, fullPages);
    const app = await buildTestApp({ providers: [list.provider] });

    const [own, byDefault, other] = await Promise.all(
      ['&platform=x', '', '&platform=bluesky'].map((platform) =>
        app.request(`/search?q=fog&format=json${platform}`),
      ),
    );

    expect(own?.json()).toMatchObject({ source: 'fake', degraded: false });
    expect(byDefault?.body).toBe(own?.body);
    expect(other?.json()).toMatchObject({ status: 400, code: 'unsupported_platform' });
  });

  clause('read.problem.member_code').each([
    [
      '/api/v1/profiles/not%20a%20handle',
      'invalid_handle',
      '`handle` has the value "not a handle"',
    ],
    ['/api/v1/profiles/sixteen_letters_', 'invalid_handle', 'sixteen_letters_'],
    ['/api/v1/profiles/%40/followers', 'invalid_handle', '@'],
    ['/not-a-handle', 'invalid_handle', 'not-a-handle'],
    ['/api/v1/search', 'missing_query', '`q` is missing'],
    ['/search?q=%20%20', 'missing_query', '`q` is empty'],
    [`/search?q=${'x'.repeat(513)}`, 'invalid_query', '513 characters'],
    ['/search?q=a&q=b', 'invalid_option', '`q` is given more than once'],
    ['/search?q=a&feed=people', 'invalid_feed', '"people"'],
    ['/search?q=a&platform=myspace', 'invalid_option', '`platform`'],
    ['/search?q=a&since=yesterday', 'invalid_option', '`since`'],
    ['/search?q=a&since=2026-02-30', 'invalid_option', '`since`'],
    ['/search?q=a&since=2026', 'invalid_option', '`since`'],
    ['/search?q=a&until=1e9', 'invalid_option', '`until`'],
    [
      '/search?q=a&since=2026-02-02&until=2026-02-01',
      'invalid_option',
      '`since` must be a time before',
    ],
    [
      '/search?q=a&feed=users&until=2026-02-01',
      'invalid_option',
      '`until` cannot be combined with',
    ],
    ['/search?q=a&format=obsidian', 'invalid_format', '"obsidian"'],
    [`${profile}?with_replies=maybe`, 'invalid_option', '`with_replies`'],
    [`${profile}?with_reposts=`, 'invalid_option', '`with_reposts`'],
    [`${profile}?include_posts=2`, 'invalid_option', '`include_posts`'],
    [`${profile}?include_posts=false&page=2`, 'invalid_option', '`page` applies to posts'],
    [
      `${profile}?include_posts=false&until=2026-01-01`,
      'invalid_option',
      '`until` applies to posts',
    ],
    [`${profile}?include_posts=0&with_replies=1`, 'invalid_option', '`with_replies` applies to'],
    [`/search?q=a&${'x&'.repeat(1100)}limit=0`, 'invalid_option', '`limit`'],
    [`${profile}?until=soon`, 'invalid_option', '`until`'],
    [`${profile}?limit=many`, 'invalid_option', '`limit`'],
    [`${profile}?page=11`, 'invalid_option', '`page`'],
    [`${profile}?full=absolutely`, 'invalid_option', '`full`'],
    [`${profile}?nocache=never`, 'invalid_option', '`nocache`'],
    [`${profile}?cursor=`, 'invalid_cursor', '`cursor` is empty'],
    ['/api/v1/profiles/alice.example.com', 'unsupported_platform', 'an account of Bluesky'],
  ])('rejects %s with %s', async (url, code, words) => {
    const app = sharedApp({ env: xOnly });

    const reply = await app.request(url);

    expect(reply.json()).toMatchObject({ status: 400, code });
    expect(reply.json().detail).toContain(words);
  });

  clause('read.resources.profile_by_handle')(
    'answers 404 for an unknown account of the sample',
    async () => {
      for (const path of ['', '/followers', '/following']) {
        const reply = await app.request(`/nobody.example${path}`);
        expect(reply.json()).toMatchObject({ status: 404, code: 'not_found' });
      }
    },
  );
});
