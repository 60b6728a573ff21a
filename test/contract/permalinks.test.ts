import { describe, expect, it } from 'vitest';
import { buildTestApp, shareTestApps, type TestApp } from '../support/build-app.ts';
import { startFakeFxTwitter } from '../support/fake-fxtwitter.ts';
import { createStubProvider, stubFound, stubPost } from '../support/stub-provider.ts';
import { withoutCoding } from '../support/vary.ts';

const sharedApp = shareTestApps();

const ada = 'ada.example';
const id = '1900000000000000001';
const base = 'http://localhost:8080';
const offline = { PERCH_PROVIDERS: 'archive' };
const app = sharedApp({ env: offline });

/** Permalinks, and the path under v1 with the same body. */
const permalinks: readonly (readonly [path: string, same: string])[] = [
  [`/${ada}/status/${id}/`, `/api/v1/posts?handle=${ada}&id=${id}`],
  [`/${ada}/status/${id}/?thread=off`, `/api/v1/posts?handle=${ada}&id=${id}&thread=off`],
  [`/${ada}/status/${id}/photo/1/`, `/api/v1/posts?handle=${ada}&id=${id}`],
  [`/${ada}/status/${id}/photo/0`, `/api/v1/posts?handle=${ada}&id=${id}`],
  [`/${ada}/status/${id}/reposts/with_comments`, `/api/v1/posts?handle=${ada}&id=${id}`],
  [`/${ada}/statuses/${id}`, `/api/v1/posts?handle=${ada}&id=${id}`],
  [`/${ada}/article/${id}/`, `/api/v1/posts?handle=${ada}&id=${id}`],
  [`/profile/${ada}/post/${id}/liked-by`, `/api/v1/posts?handle=${ada}&id=${id}`],
  [`/profile/${ada}/post/${id}`, `/api/v1/posts?handle=${ada}&id=${id}`],
  [`/profile/${ada}/post/${id}/?thread=2`, `/api/v1/posts?handle=${ada}&id=${id}&thread=2`],
  [`/${ada}/`, `/api/v1/profiles/${ada}`],
  [`/@${ada}/?limit=2`, `/api/v1/profiles/${ada}?limit=2`],
  [`/profile/${ada}`, `/api/v1/profiles/${ada}`],
  [`/profile/${ada}/?limit=2`, `/api/v1/profiles/${ada}?limit=2`],
  [`/${ada}/with_replies?limit=2`, `/api/v1/profiles/${ada}?limit=2&with_replies=true`],
  [`/${ada}/with_replies/?limit=2`, `/api/v1/profiles/${ada}?limit=2&with_replies=true`],
  [`/${ada}/media`, `/api/v1/profiles/${ada}?only_media=true&with_replies=true`],
  [`/${ada}/media/?limit=1`, `/api/v1/profiles/${ada}?only_media=true&with_replies=true&limit=1`],
  [`/${ada}/followers/?limit=2`, `/api/v1/profiles/${ada}/followers?limit=2`],
  [`/${ada}/following/`, `/api/v1/profiles/${ada}/following`],
  [`/profile/${ada}/followers?limit=2`, `/api/v1/profiles/${ada}/followers?limit=2`],
  [`/profile/${ada}/follows/`, `/api/v1/profiles/${ada}/following`],
  [`/${ada}/posts/?max_posts=3`, `/api/v1/profiles/${ada}/posts?max_posts=3`],
  ['/search/?platform=archive&q=heron', '/api/v1/search?platform=archive&q=heron'],
  ['/hashtag/BirdDiary?platform=archive', '/api/v1/search?platform=archive&q=%23BirdDiary'],
  ['/hashtag/%23BirdDiary/?platform=archive', '/api/v1/search?platform=archive&q=%23BirdDiary'],
  [`/${base}/${ada}/status/${id}`, `/api/v1/posts?handle=${ada}&id=${id}`],
  [`/http:/localhost:8080/${ada}/status/${id}`, `/api/v1/posts?handle=${ada}&id=${id}`],
  [`/https://localhost:8080/${ada}?limit=2`, `/api/v1/profiles/${ada}?limit=2`],
  [`/https:/127.0.0.1:8080/profile/${ada}/?limit=2`, `/api/v1/profiles/${ada}?limit=2`],
  [
    `/${encodeURIComponent(`${base}/${ada}/followers`)}?limit=2`,
    `/api/v1/profiles/${ada}/followers?limit=2`,
  ],
  [`/http://localhost:8080%2F${ada}`, `/api/v1/profiles/${ada}`],
  [
    `/${base}/search?platform=archive&q=heron&limit=1`,
    '/api/v1/search?platform=archive&q=heron&limit=1',
  ],
  [`/${base}/${base}/${ada}`, `/api/v1/profiles/${ada}`],
];

it('the media of an account includes the posts with a photo, video or sound', async () => {
  const media = await app.request(`/${ada}/media?format=json`);
  const all = await app.request(`/${ada}?format=json&with_replies=true&limit=100`);

  const posts = media.json().posts as { media: { all: unknown[] } }[];
  expect(posts.length).toBeGreaterThan(0);
  expect(posts.length).toBeLessThan(all.json().posts.length);
  for (const { media: own } of posts) expect(own.all.length).toBeGreaterThan(0);
});

describe('a permalink', () => {
  it.each(permalinks)(
    '%s has the body of %s, also as JSON, and rejects other methods',
    async (path, same) => {
      const expected = await app.request(same);

      const reply = await app.request(path);
      const head = await app.request(path, { method: 'HEAD' });
      const json = await app.request(`${path}${path.includes('?') ? '&' : '?'}format=json`);
      const posted = await app.request(path, { method: 'POST' });

      expect([expected.statusCode, reply.statusCode, head.statusCode]).toEqual([200, 200, 200]);
      expect(withoutTime(reply.body)).toEqual(withoutTime(expected.body));
      expect(head.body).toBe('');
      expect(json.headers['content-type']).toBe('application/json; charset=utf-8');
      expect([posted.statusCode, posted.headers.allow]).toEqual([405, 'GET, HEAD']);
    },
  );
});

/** A history says when it was read. */
function withoutTime(body: string): string {
  return body.replaceAll(/"fetched_at":"[^"]*"/g, '');
}

/** Paths with what of them reaches the provider: the platform, the handle and the id. */
const posts: readonly (readonly [path: string, asked: string])[] = [
  ['/i/web/status/20', 'x null 20'],
  ['/i/web/status/20/', 'x null 20'],
  ['/i/status/20', 'x null 20'],
  ['/https://x.com/jack/status/20', 'x jack 20'],
  ['/https:/x.com/jack/status/20', 'x jack 20'],
  ['/http://twitter.com/jack/statuses/20/photo/1?s=20', 'x jack 20'],
  ['/https://mobile.twitter.com/i/web/status/20', 'x null 20'],
  ['/https%3A%2F%2Fx.com%2Fjack%2Fstatus%2F20', 'x jack 20'],
  ['/https://fxtwitter.com/jack/status/20', 'x jack 20'],
  ['/https://vxtwitter.com/jack/status/20', 'x jack 20'],
  ['/https://fixupx.com/jack/status/20', 'x jack 20'],
  ['/https://nitter.net/jack/status/20#m', 'x jack 20'],
  ['/https://www.xcancel.com/jack/status/20', 'x jack 20'],
  ['/api/v1/posts?url=https://nitter.net/jack/status/20', 'x jack 20'],
  ['/status/20', 'x null 20'],
  ['/statuses/20/history', 'x null 20'],
  ['/x.com/jack/status/20', 'x jack 20'],
  ['/www.twitter.com/jack/status/20/analytics', 'x jack 20'],
  ['/d.fxtwitter.com/jack/status/20/ja', 'x jack 20'],
  ['/https://x.com//jack//status/20', 'x jack 20'],
  ['/social.net/@ann/112', 'mastodon ann@social.net 112'],
  ['/social.net/notice/9aBc', 'mastodon _@social.net 9aBc'],
  ['/bsky.app/profile/a.bsky.social/post/3kabc', 'bluesky a.bsky.social 3kabc'],
  ['/at://a.bsky.social/app.bsky.feed.post/3kabc', 'bluesky a.bsky.social 3kabc'],
  ['/at%3A%2F%2Fa.bsky.social%2Fapp.bsky.feed.post%2F3kabc', 'bluesky a.bsky.social 3kabc'],
  ['/@ann@social.net/statuses/112/embed', 'mastodon ann@social.net 112'],
  ['/@ann@social.net/112', 'mastodon ann@social.net 112'],
  ['/@ann@social.net/112/', 'mastodon ann@social.net 112'],
  ['/@Ann%40social.net/112', 'mastodon ann@social.net 112'],
  ['/@ann@social.net/status/112', 'mastodon ann@social.net 112'],
  ['/https://social.net/@ann/112', 'mastodon ann@social.net 112'],
  ['/https://social.net/users/ann/statuses/112', 'mastodon ann@social.net 112'],
  ['/profile/a.bsky.social/post/3kabc', 'bluesky a.bsky.social 3kabc'],
  [
    '/profile/did:plc:ewvi7nxzyoun6zhxrhs64oiz/post/3kabc/',
    'bluesky did:plc:ewvi7nxzyoun6zhxrhs64oiz 3kabc',
  ],
  ['/https://bsky.app/profile/a.bsky.social/post/3kabc', 'bluesky a.bsky.social 3kabc'],
];

it.each(posts)('the path of a post %s requests %s', async (path, asked) => {
  const seen: string[] = [];
  const provider = createStubProvider('fxtwitter', async ({ post }) => {
    seen.push(`${post.platform} ${post.handle} ${post.id}`);
    return stubFound(stubPost(post.id));
  });
  const app = await buildTestApp({
    providers: [
      {
        ...provider,
        platforms: ['x', 'bluesky', 'mastodon'],
        covers: ({ kind }) => kind === 'post',
      },
    ],
  });

  const reply = await app.request(path);

  expect([reply.statusCode, seen]).toEqual([200, [asked]]);
  expect(reply.headers['ratelimit-policy']).toMatch(/^"post"/);
  expect(reply.headers['x-api-key-status']).toBeUndefined();
});

async function onX(): Promise<TestApp> {
  const fake = await startFakeFxTwitter();
  fake.addAccount('wren');
  fake.addTimeline('wren', { length: 5, kindOf: (index) => (index === 1 ? 'reply' : 'post') });
  fake.addConnections('wren', { kind: 'followers', length: 3 });
  fake.addSearch('#heron', 2);
  fake.addSearch('heron', 3);
  return buildTestApp({
    env: { PERCH_PROVIDERS: 'fxtwitter', PERCH_FXTWITTER_URL: fake.url },
  });
}

describe('a whole URL', () => {
  it.each([
    ['/https://x.com/wren', '/api/v1/profiles/wren'],
    ['/https:/x.com/wren?limit=2', '/api/v1/profiles/wren?limit=2'],
    ['/https://x.com/wren/with_replies', '/api/v1/profiles/wren?with_replies=true'],
    ['/https://nitter.net/wren/', '/api/v1/profiles/wren'],
    ['/https://x.com/wren/followers', '/api/v1/profiles/wren/followers'],
    ['/https://x.com/hashtag/heron?src=hash', '/api/v1/search?q=%23heron&platform=x'],
    ['/https://x.com/search?q=heron&f=live', '/api/v1/search?q=heron&platform=x'],
    [
      '/https://x.com/search?q=heron&f=top&limit=1',
      '/api/v1/search?q=heron&platform=x&feed=top&limit=1',
    ],
    [
      '/https%3A%2F%2Fx.com%2Fsearch%3Fq%3Dheron?limit=1',
      '/api/v1/search?q=heron&platform=x&limit=1',
    ],
    ['/https://nitter.net/search?f=tweets&q=heron', '/api/v1/search?q=heron&platform=x'],
    ['/x.com/wren', '/api/v1/profiles/wren'],
    ['/twitter.com/wren/followers?limit=2', '/api/v1/profiles/wren/followers?limit=2'],
    ['/x.com/search?q=heron&f=top&limit=1', '/api/v1/search?q=heron&platform=x&feed=top&limit=1'],
  ])('%s has the body of %s', async (path, same) => {
    const app = await onX();
    const expected = await app.request(same);

    const reply = await app.request(path);

    expect([expected.statusCode, reply.statusCode]).toEqual([200, 200]);
    expect(reply.body).toBe(expected.body);
    expect(withoutCoding(reply.headers.vary)).toBe('Accept, Authorization');
    expect(reply.headers['x-api-key-status']).toBe('anonymous');
  });

  it.each([
    ['/https://t.co/abc', 'unsupported_host'],
    ['/https://www.threads.net/@jack', 'unsupported_host'],
    ['/https://www.youtube.com/@jack', 'unsupported_host'],
    ['/https://example.com/', 'unsupported_host'],
    ['/https://nitter.example.org/jack/status/20', 'unsupported_host'],
    ['/https://x.com/home', 'invalid_path'],
    ['/https://x.com:8443/jack/status/20', 'invalid_url'],
    ['/https://me:secret@x.com/jack/status/20', 'invalid_url'],
    [`/http://localhost:8080/docs/start`, 'invalid_path'],
    ['/https://x.com/jack/status/20?thread=1', 'invalid_thread'],
    ['/https://', 'invalid_url'],
    ['/x.com/home', 'invalid_path'],
    ['/bsky.app/profile/a.bsky.social/lists/3k', 'invalid_path'],
  ])('%s is rejected with %s', async (path, code) => {
    const app = sharedApp();

    const reply = await app.request(path);

    expect([reply.statusCode, reply.json().code]).toEqual([400, code]);
    expect(reply.json().detail).not.toContain('`url`');
  });

  it('uses keys if the read does', async () => {
    const headers = { authorization: `Bearer perch_${'u'.repeat(43)}` };

    const profile = await app.request(`/${base}/${ada}`, { headers });
    const post = await app.request(`/${base}/${ada}/status/${id}`, { headers });

    expect([profile.statusCode, profile.json().code]).toEqual([401, 'invalid_key']);
    expect([post.statusCode, post.headers['x-api-key-status']]).toEqual([200, undefined]);
  });

  it('of a mirror is accepted if the operator configures the mirror', async () => {
    const app = await buildTestApp({
      env: { ...offline, PERCH_X_MIRRORS: 'mirror.example.org' },
    });

    const named = await app.request('/https://mirror.example.org/jack/status/20');
    const other = await app.request('/https://nitter.net/jack/status/20');

    // It is X, which has no provider here.
    expect(named.json().code).toBe('unsupported_platform');
    expect(other.json().code).toBe('unsupported_host');
  });
});

describe('a path that is not a permalink', () => {
  it.each([
    '/jack/likes',
    '/jack/20',
    '/@jack/20',
    '/docs/with_replies',
    '/search/media',
    '/profile/a.bsky.social/lists/1',
    '/hashtag/a/b',
    '/ada.example/likes/1',
    '/www.example.com/story',
  ])('%s is not a route', async (path) => {
    const app = await buildTestApp({ env: offline });

    const reply = await app.request(path);
    const posted = await app.request(path, { method: 'POST' });

    expect([reply.statusCode, reply.json().code]).toEqual([404, 'route_not_found']);
    expect(posted.statusCode).toBe(404);
  });

  it('does not hide the lists of an account with the handle `profile`', async () => {
    const fake = await startFakeFxTwitter();
    fake.addAccount('profile');
    fake.addConnections('profile', { kind: 'followers', length: 3 });
    const env = { PERCH_PROVIDERS: 'fxtwitter', PERCH_FXTWITTER_URL: fake.url };
    const app = sharedApp({ env });

    const followers = await app.request('/profile/followers?format=json');
    const profile = await app.request('/profile?format=json');

    expect(followers.json()).toMatchObject({ resource: 'followers', handle: 'profile' });
    expect(profile.json()).toMatchObject({ resource: 'profile', handle: 'profile' });
  });
});

describe('the URL of an account as `url` of a post', () => {
  it.each([
    ['https://x.com/jack', `${base}/api/v1/profiles/jack`, 'get_profile'],
    ['https://x.com/jack/media', `${base}/api/v1/profiles/jack?only_media=true`, 'get_profile'],
    ['https://nitter.net/jack', `${base}/api/v1/profiles/jack`, 'get_profile'],
    ['https://social.net/@ann', `${base}/api/v1/profiles/ann@social.net`, 'get_profile'],
    [
      'https://bsky.app/profile/a.bsky.social/follows',
      `${base}/api/v1/profiles/a.bsky.social/following`,
      'list_following',
    ],
    ['https://x.com/hashtag/heron', `${base}/api/v1/search?q=%23heron&platform=x`, 'search'],
    [
      `${base}/ada.example/followers`,
      `${base}/api/v1/profiles/ada.example/followers`,
      'list_followers',
    ],
  ])('%s is rejected, and the problem names %s and %s', async (url, route, tool) => {
    for (const path of ['/api/v1/posts', '/api/convert', '/api/v1/oembed']) {
      const reply = await app.request(`${path}?url=${encodeURIComponent(url)}`);
      const { code, resolution } = reply.json();

      expect([reply.statusCode, code]).toEqual([400, 'invalid_path']);
      expect(resolution).toContain(route);
      expect(resolution).toContain(`\`${tool}\``);
    }
  });
});
