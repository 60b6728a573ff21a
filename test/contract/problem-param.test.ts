import { describe, expect, it } from 'vitest';
import { shareTestApps, xOnly } from '../support/build-app.ts';
import { eras, sendMcp } from '../support/mcp.ts';
import { buildSessionRig } from '../support/session-rig.ts';

const sharedApp = shareTestApps();
const app = sharedApp({ env: xOnly });

const post = '/api/v1/posts?handle=ada.example&id=1900000000000000001';
const replies = '/api/v1/posts/1900000000000000001/replies?handle=ada.example';
const ada = '/api/v1/profiles/ada.example';
const search = '/api/v1/search?q=heron&platform=sample';

/** Requests with one fault, each with the parameter that has the fault. */
const faults: readonly (readonly [url: string, param: string])[] = [
  ['/api/v1/posts', 'url'],
  ['/api/v1/posts?url=https://x.com/home/', 'url'],
  ['/api/v1/posts?url=ftp://x.com/jack/status/20', 'url'],
  ['/api/v1/posts?url=https://youtube.com/@a/1', 'url'],
  ['/api/v1/posts?url=https://bsky.app/profile/a.bsky.social/post/3k', 'url'],
  ['/api/v1/posts?handle=a.bsky.social&id=3k', 'handle'],
  ['/api/v1/posts?handle=jack', 'id'],
  ['/api/v1/posts?id=20', 'handle'],
  ['/api/v1/posts?handle=jack!&id=20', 'handle'],
  ['/jack/status/2x', 'id'],
  ['/ja!ck/status/20', 'handle'],
  ['/https://x.com/home', 'address'],
  ['/https://x.com/jack/status/20?thread=0', 'thread'],
  [`${post}&thread=many`, 'thread'],
  [`${post}&context=none`, 'context'],
  [`${post}&replies=best`, 'replies'],
  [`${post}&userinfo=none`, 'userinfo'],
  [`${post}&format=docx`, 'format'],
  [`${post}&full=perhaps`, 'full'],
  [`${post}&full=1&full=1`, 'full'],
  [`${replies}&replies=off`, 'replies'],
  ['/api/v1/posts/3k/replies', 'id'],
  ['/api/v1/posts/3k/replies?handle=a.bsky.social', 'handle'],
  ['/api/v1/profiles/ja%20ck', 'handle'],
  ['/api/v1/profiles/a.bsky.social/followers', 'handle'],
  [`${ada}?limit=none`, 'limit'],
  [`${ada}?cursor=nonsense`, 'cursor'],
  [`${ada}?cursor=a&page=2`, 'page'],
  [`${ada}?until=soon`, 'until'],
  [`${ada}?include_posts=0&page=2`, 'page'],
  [`${ada}?include_posts=0&with_reposts=1`, 'with_reposts'],
  [`${ada}/followers?format=rss`, 'format'],
  [`${ada}/posts?max_posts=0`, 'max_posts'],
  [`${ada}/posts?since=2026-02-01&until=2026-01-01`, 'since'],
  [`${ada}/posts?index=1&format=atom`, 'format'],
  [`${ada}/posts?only_replies=1&with_replies=0`, 'only_replies'],
  [`${ada}/posts?only_replies=1&with_reposts=1`, 'with_reposts'],
  ['/api/v1/profiles/a.bsky.social/posts', 'handle'],
  ['/search', 'q'],
  [`/search?q=${'x'.repeat(513)}`, 'q'],
  [`${search}&feed=hot`, 'feed'],
  [`${search}&feed=users&until=2026-01-01`, 'until'],
  ['/api/v1/search?q=heron&platform=mastodon', 'platform'],
  ['/api/v1/oembed', 'url'],
  ['/oembed?url=https://x.com/jack/status/20&maxwidth=wide', 'maxwidth'],
  ['/oembed?url=https://x.com/jack/status/20&format=xml', 'format'],
  ['/api/v1/opml', 'handles'],
  ['/api/v1/opml?handles=ja%20ck', 'handles'],
  ['/api/browse?resource=nope', 'resource'],
  ['/api/browse?resource=profile&resource=search', 'resource'],
  ['/api/browse?resource=followers', 'handle'],
  ['/?q=https://x.com/home', 'q'],
  ['/?q=a&q=b', 'q'],
];

/** Requests whose error does not concern a parameter. */
const others: readonly string[] = [
  '/no/such/route',
  '/ada.example/status/1900000000000000999',
  '/nobody.example',
  '/%zz/status/20',
];

describe('the member `param` of a problem document', () => {
  it.each(faults)('names the parameter at fault: %s', async (url, param) => {
    const { code, param: named, detail } = (await app.request(url)).json();

    expect([named, code]).toEqual([
      param,
      expect.stringMatching(/invalid|missing|unsupported|not_/),
    ]);
    expect(detail).not.toBe('');
  });

  it.each(others)('is absent if the error concerns no parameter: %s', async (url) => {
    const problem = (await app.request(url)).json();

    expect(problem.code).toBeDefined();
    expect(problem).not.toHaveProperty('param');
  });

  it('is absent if a header is at fault', async () => {
    const app = sharedApp();

    const reply = await app.request('/ada.example', {
      headers: { authorization: `Bearer ${'x'.repeat(5000)}` },
    });

    expect(reply.json().code).toBe('invalid_option');
    expect(reply.json()).not.toHaveProperty('param');
  });

  it.each(eras)('is part of the structured content of a tool: %s', async (era) => {
    const app = sharedApp();
    const params = { name: 'search', arguments: { q: 'heron', feed: ['latest'] } };

    const { result } = (await sendMcp(app, era, { method: 'tools/call', params })).json();

    expect(result.structuredContent).toMatchObject({ code: 'invalid_feed', param: 'feed' });
  });

  it.each([
    [{ message: 7 }, 'message'],
    [{}, 'message'],
    [{ message: 'Hello', turnPolicy: 'later' }, 'turnPolicy'],
    [{ message: 'Hello', outputSchema: {} }, 'outputSchema'],
  ])('names the member of the body of a session request: %j', async (payload, param) => {
    const rig = await buildSessionRig();

    const reply = await rig.request('session', { method: 'POST', body: payload });

    expect(reply.json()).toMatchObject({ ok: false, param });
  });
});
