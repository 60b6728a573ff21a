import { describe, expect, it } from 'vitest';
import type { Platform } from '../../src/model/reference.ts';
import { buildTestApp, shareTestApps, type TestApp } from '../support/build-app.ts';
import { fillArchive } from '../support/imported-archive.ts';
import { eras, sendMcp } from '../support/mcp.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

const sharedApp = shareTestApps();
const app = sharedApp({ env: { PERCH_CONNECT_TIMEOUT_MS: '200' } });

const platformsOf = (rows: readonly { readonly platform: string }[]) => [
  ...new Set(rows.map(({ platform }) => platform)),
];

/** An app whose upstreams are gone, with imports of these platforms. */
async function buildImportedApp(...platforms: readonly Platform[]): Promise<TestApp> {
  const folder = temporaryFolder();
  fillArchive(folder, platforms);
  return buildTestApp({ env: { PERCH_DATA_DIR: folder } });
}

describe('a search of a platform that is down', () => {
  it.each([
    '/search?q=heron',
    '/search?q=heron&platform=x',
    '/api/v1/search?q=heron&platform=x&feed=top',
    '/search?q=heron&platform=x&feed=users',
    '/search?q=heron&platform=bluesky',
    '/api/browse?resource=search&q=heron',
  ])('does not return sample posts: %s', async (url) => {
    const reply = await app.request(url);

    expect([reply.statusCode, reply.json().code]).toEqual([503, 'upstream_unavailable']);
    expect(reply.json()).not.toHaveProperty('posts');
  });

  it.each(eras)('does not return sample posts over MCP: %s', async (era) => {
    const params = { name: 'search', arguments: { q: 'heron', platform: 'x' } };

    const { result } = (await sendMcp(app, era, { method: 'tools/call', params })).json();

    expect(result).toMatchObject({
      isError: true,
      structuredContent: { code: 'upstream_unavailable' },
    });
  });

  it('returns imported posts of that platform, and warns about it', async () => {
    const app = await buildImportedApp('x', 'bluesky');

    const reply = await app.request('/search?q=heron&platform=x&format=json');
    const users = await app.request('/search?q=heron&platform=x&feed=users&format=json');

    expect(reply.headers['x-search-degraded']).toBe('true');
    expect(reply.json()).toMatchObject({ degraded: true, source: 'archive' });
    expect(platformsOf(reply.json().posts)).toEqual(['x']);
    expect(reply.json().warnings).toEqual([
      'X could not be searched now. The posts and accounts of X in the archive of this server were searched instead. They are not live and may be incomplete.',
    ]);
    expect(users.json()).toMatchObject({
      degraded: true,
      users: [{ platform: 'x', screen_name: 'heron_x' }],
    });
  });

  it('does not return imported posts of another platform', async () => {
    const app = await buildImportedApp('bluesky');

    const reply = await app.request('/search?q=heron&platform=x');

    expect([reply.statusCode, reply.json().code]).toEqual([503, 'upstream_unavailable']);
  });

  it('continues at its cursor with the same posts', async () => {
    const app = await buildImportedApp('x', 'bluesky');
    const url = '/search?q=heron&platform=x&format=json&limit=2';

    const first = (await app.request(url)).json();
    const second = (await app.request(`${url}&cursor=${first.nextCursor}`)).json();

    expect([first.posts.length, second.posts.length]).toEqual([2, 1]);
    expect(platformsOf([...first.posts, ...second.posts])).toEqual(['x']);
    expect([second.degraded, second.nextCursor]).toEqual([true, undefined]);
  });
});

describe('a search of the sample', () => {
  it('returns sample posts, regardless of imports', async () => {
    const app = await buildImportedApp('x');

    const posts = (await app.request('/search?q=heron&platform=sample&format=json')).json();
    const users = (
      await app.request('/search?q=har&platform=sample&feed=users&format=json')
    ).json();

    expect(posts).toMatchObject({ source: 'archive', degraded: false, warnings: [] });
    expect(platformsOf(posts.posts)).toEqual(['sample']);
    expect(platformsOf(users.users)).toEqual(['sample']);
  });

  it('is 400 without a sample', async () => {
    const app = sharedApp({ env: { PERCH_SAMPLE: 'false' } });

    const reply = await app.request('/search?q=heron&platform=sample');

    expect([reply.statusCode, reply.json().code]).toEqual([400, 'unsupported_platform']);
    expect(reply.json().detail).toContain('names the sample, which');
  });

  it('is the target of its hashtags', async () => {
    const app = sharedApp();

    const found = await app.request('/search?q=%23BirdDiary&platform=sample&limit=1');
    const [, link = ''] = /\[#BirdDiary\]\(http:\/\/localhost:8080([^)]+)\)/.exec(found.body) ?? [];

    expect(link).toContain('platform=sample');
    expect((await app.request(link)).statusCode).toBe(200);
  });
});

describe('a search of the archive', () => {
  const url = '/search?q=heron&platform=archive&limit=100&format=json';

  it('returns sample posts before the first import', async () => {
    const app = sharedApp();

    expect(platformsOf((await app.request(url)).json().posts)).toEqual(['sample']);
  });

  it('returns imported posts after an import, without a restart', async () => {
    const folder = temporaryFolder();
    const app = await buildTestApp({ env: { PERCH_DATA_DIR: folder } });
    const before = (await app.request(url)).json();
    fillArchive(folder, ['x', 'mastodon']);

    const after = (await app.request(`${url}&nocache=true`)).json();
    const none = (await app.request(`${url.replace('heron', '-heron')}&nocache=true`)).json();
    const users = (await app.request(`${url}&feed=users`)).json();

    expect(platformsOf(before.posts)).toEqual(['sample']);
    expect(platformsOf(after.posts).toSorted()).toEqual(['mastodon', 'x']);
    expect(after.degraded).toBe(false);
    expect(none.posts).toEqual([]);
    expect(users.users).toHaveLength(2);
  });

  it('finds nothing without imports and without a sample', async () => {
    const app = sharedApp({ env: { PERCH_SAMPLE: 'false' } });

    const reply = await app.request(url);

    expect([reply.statusCode, reply.json().posts]).toEqual([200, []]);
  });

  it('is the default if no other provider supports search', async () => {
    const app = sharedApp({ env: { PERCH_PROVIDERS: 'archive' } });

    const reply = await app.request('/search?q=heron&format=json');

    expect(reply.json()).toMatchObject({ source: 'archive', degraded: false });
  });
});
