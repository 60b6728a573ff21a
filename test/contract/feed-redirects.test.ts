import { describe, expect, it } from 'vitest';
import { buildTestApp } from '../support/build-app.ts';

const offline = { PERCH_PROVIDERS: 'archive' };
const base = 'http://localhost:8080';

describe('the path of a feed on Nitter', () => {
  it.each([
    ['/otto.example/rss', '/otto.example?format=rss'],
    ['/otto.example/rss?limit=5', '/otto.example?limit=5&format=rss'],
    ['/otto.example/with_replies/rss', '/otto.example?with_replies=true&format=rss'],
    ['/otto.example/media/rss', '/otto.example?only_media=true&with_replies=true&format=rss'],
    ['/search/rss?q=kites', '/search?q=kites&format=rss'],
    ['/otto.example/rss?%E6%97%A5=1', '/otto.example?%E6%97%A5=1&format=rss'],
    ['/otto.example/rss?a%26b%0d%0a=1', '/otto.example?a%26b%0D%0A=1&format=rss'],
    ['/@kim@reef.example.org/rss', '/@kim@reef.example.org?format=rss'],
  ])('%s redirects to %s', async (path, target) => {
    const app = await buildTestApp({ env: offline });

    const reply = await app.request(path);

    expect([reply.statusCode, reply.headers.location]).toEqual([301, `${base}${target}`]);
  });

  it('leads to a feed with posts', async () => {
    const app = await buildTestApp({ env: offline });
    const { headers } = await app.request('/ada.example/rss');

    const feed = await app.request(String(headers.location).slice(base.length));

    expect(feed.headers['content-type']).toBe('application/rss+xml; charset=utf-8');
    expect(feed.body).toContain('<item>');
  });

  it('accepts no other methods, and no names of the server’s own paths', async () => {
    const app = await buildTestApp({ env: offline });

    const posted = await app.request('/otto.example/rss', { method: 'POST' });
    const own = await app.request('/docs/rss/rss');

    expect([posted.statusCode, own.statusCode]).toEqual([405, 404]);
  });
});
