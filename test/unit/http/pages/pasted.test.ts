import { describe, expect, it } from 'vitest';
import { readPasted } from '../../../../src/http/pages/pasted.ts';

const baseUrl = 'http://localhost:8080';
const read = (text: string, base = baseUrl) => {
  const { route, address, given } = readPasted(text, base);
  return [route.read, address, given];
};

describe('what is pasted', () => {
  it.each([
    ['https://x.com/jack/status/20', 'getPost', '/jack/status/20'],
    ['http://twitter.com/jack/status/20?s=20#m', 'getPost', '/jack/status/20'],
    ['x.com/jack/status/20/photo/1', 'getPost', '/jack/status/20'],
    [
      'https://x.com/i/status/20',
      'getPost',
      '/api/v1/posts?url=https%3A%2F%2Fx.com%2Fi%2Fstatus%2F20',
    ],
    ['https://bsky.app/profile/a.bsky.social/post/3k', 'getPost', '/a.bsky.social/status/3k'],
    ['https://social.net/@ann/123', 'getPost', '/ann@social.net/status/123'],
    ['https://x.com/jack', 'getProfile', '/jack'],
    ['x.com/Jack/with_replies', 'getProfile', '/jack'],
    ['https://x.com/docs', 'getProfile', '/api/v1/profiles/docs'],
    ['https://bsky.app/profile/a.bsky.social', 'getProfile', '/a.bsky.social'],
    ['https://social.net/@ann', 'getProfile', '/ann@social.net'],
    ['https://social.net/users/ann', 'getProfile', '/ann@social.net'],
    ['@ann@social.net', 'getProfile', '/ann@social.net'],
    ['jack', 'getProfile', '/jack'],
    ['@ada.example', 'getProfile', '/ada.example'],
    ['docs', 'getProfile', '/api/v1/profiles/docs'],
    ['two words', 'searchPosts', '/search?q=two%20words'],
    ['"heron"', 'searchPosts', '/search?q=%22heron%22'],
    ['#heron', 'searchPosts', '/search?q=%23heron'],
    ["it's (x)*!", 'searchPosts', '/search?q=it%27s%20%28x%29%2A%21'],
    ['javascript:alert(1)', 'searchPosts', '/search?q=javascript%3Aalert%281%29'],
    [`${baseUrl}/ada.example?limit=2&format=json`, 'getProfile', '/ada.example?limit=2'],
    ['localhost:8080/ada.example/followers', 'listFollowers', '/ada.example/followers'],
    [`${baseUrl}/ada.example/status/1/photo/2`, 'getPost', '/ada.example/status/1/photo/2'],
    [`${baseUrl}/search?q=a&format=json`, 'searchPosts', '/search?q=a'],
    [
      `${baseUrl}/api/v1/profiles/a/following?cursor=x`,
      'listFollowing',
      '/api/v1/profiles/a/following?cursor=x',
    ],
  ])('%s is the read %s at %s', (text, name, address) => {
    expect(read(text).slice(0, 2)).toEqual([name, address]);
  });

  it('gives the parameters of path and query, and neither format nor the number of a photo', () => {
    expect(read(`${baseUrl}/ada.example/status/1/photo/2?thread=off&format=json&url=x`)[2]).toEqual(
      {
        handle: 'ada.example',
        id: '1',
        thread: 'off',
        url: undefined,
      },
    );
  });

  it('knows its own address below a path', () => {
    expect(read('https://perch.test/read/jack', 'https://perch.test/read')[1]).toBe('/jack');
    expect(() => read('https://perch.test/jack', 'https://perch.test/read')).toThrow(/host/);
  });

  it.each([
    ['ftp://x.com/jack', 'invalid_url'],
    ['https://me@x.com/jack/status/20', 'invalid_url'],
    ['http://me:pass@localhost:8080/ada.example', 'invalid_url'],
    ['https://x.com:8443/jack', 'invalid_url'],
    ['https://x.com/a b', 'invalid_url'],
    ['https://x.com/', 'invalid_path'],
    ['https://x.com/home', 'invalid_path'],
    ['https://x.com/jack/likes', 'invalid_path'],
    ['https://bsky.app/profile/a.bsky.social/lists', 'invalid_path'],
    [`${baseUrl}/`, 'invalid_path'],
    [`${baseUrl}/docs/start`, 'invalid_path'],
    [`${baseUrl}/oembed?url=x`, 'invalid_path'],
    ['https://10.0.0.1/@ann', 'unsupported_host'],
    ['https://shop.test/a/b/c', 'unsupported_host'],
  ])('%s is refused with %s', (text, code) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code }));
  });
});
