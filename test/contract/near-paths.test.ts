import { describe, expect, it } from 'vitest';
import { shareTestApp } from '../support/build-app.ts';
import { parsePage } from '../support/render-html.ts';

const app = shareTestApp();
const base = 'http://localhost:8080';

describe('a path that is nearly one of this server', () => {
  it.each([
    ['/wren/folowing', '/wren/following'],
    ['/mira@social.example.org/folowers', '/mira@social.example.org/followers'],
    ['/ada.example/post?max_posts=3', '/ada.example/posts?max_posts=3'],
    ['/wren/statsu/21', '/wren/status/21'],
    ['/wren/Status/21', '/wren/status/21'],
    ['/wren/Followers', '/wren/followers'],
    ['/profiles/mira.bsky.social/post/3k', '/profile/mira.bsky.social/post/3k'],
    ['/api/v1/serach?q=fog', '/api/v1/search?q=fog'],
    ['/api/v1/profile/wren/followers', '/api/v1/profiles/wren/followers'],
    ['/api/v1/post/21/replies', '/api/v1/posts/21/replies'],
    ['/ada.example.json', '/ada.example?format=json'],
    ['/ada.example.xml?limit=3', '/ada.example?format=rss&limit=3'],
    ['/otto.example.rss', '/otto.example?format=rss'],
    ['/lms.txt', '/llms.txt'],
    ['/.well-known/api-catalogue', '/.well-known/api-catalog'],
    ['/health/redy', '/health/ready'],
  ])('is 404 with the right one: %s', async (url, right) => {
    const { code, resolution } = (await app.request(url)).json();

    expect(code).toBe('route_not_found');
    expect(resolution).toContain(`Did you mean \`${base}${right}\`?`);
  });

  it('is 404 with the right one in the page of a browser', async () => {
    const { body } = await app.request('/wren/folowing?format=html');

    expect(parsePage(body).text).toContain(`Did you mean ${base}/wren/following?format=html?`);
  });

  it.each([
    '/no/such/route',
    '/wp-login.php',
    '/wp-admin/setup.php',
    '/api/v2/posts',
    '/api/v1/x/y/z',
    '/docs/nope',
    '/cgi-bin/luci/;stok=/locale',
    '/a/b/c/d/e/f/g/h',
    '/ja!ck/folowers',
    `/${'a'.repeat(5000)}/folowers`,
    `/wren/${'folowers'.repeat(20)}`,
    '/%3Cscript%3E/folowers',
    '//evil.example/folowers/x',
  ])('is not suspected of other paths: %s', async (url) => {
    const { statusCode, body } = await app.request(url);

    expect(statusCode).toBe(404);
    expect(body).not.toContain('Did you mean');
  });

  it('repeats neither a long query nor a key nor markup', async () => {
    const key = `perch_${'u'.repeat(43)}`;

    const long = await app.request(`/wren/folowers?a=${'b'.repeat(3000)}`);
    const secret = await app.request(`/wren/folowers?a=${key}`);
    const markup = await app.request('/wren/folowers?a=`<b>"');

    expect(long.json().resolution).toMatch(/followers`\?$/);
    expect(secret.json().resolution).not.toContain('uuuu');
    expect(markup.json().resolution).not.toMatch(/[<>"]/);
  });
});
