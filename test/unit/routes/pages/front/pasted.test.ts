import { describe, expect, it } from 'vitest';
import { findOtherMeaning, parsePasted } from '../../../../../src/routes/pages/own-links.ts';

const baseUrl = 'http://localhost:8080';
const place = { baseUrl, xMirrors: ['nitter.net'], mastodonSearchHost: 'mastodon.social' };
const read = (text: string, base = baseUrl) => {
  const { read: name, address, given } = parsePasted(text, { ...place, baseUrl: base });
  return [name, address, given];
};

describe('the input of the front page', () => {
  it.each([
    ['https://x.com/jack/status/20', 'getPost', '/jack/status/20'],
    ['http://twitter.com/jack/status/20?s=20#m', 'getPost', '/jack/status/20'],
    ['x.com/jack/status/20/photo/1', 'getPost', '/jack/status/20'],
    ['https://x.com/i/status/20', 'getPost', '/i/status/20'],
    ['x.com/i/web/status/20', 'getPost', '/i/status/20'],
    ['https:/x.com/jack/status/20', 'getPost', '/jack/status/20'],
    ['https://nitter.net/jack/status/20#m', 'getPost', '/jack/status/20'],
    ['nitter.net/jack/status/20', 'getPost', '/jack/status/20'],
    ['https://bsky.app/profile/a.bsky.social/post/3k', 'getPost', '/a.bsky.social/status/3k'],
    ['https://social.net/@ann/123', 'getPost', '/ann@social.net/status/123'],
    ['https://x.com/jack', 'getProfile', '/jack'],
    ['x.com/Jack/with_replies', 'getProfile', '/jack?with_replies=true'],
    ['x.com/jack/media/', 'getProfile', '/jack?only_media=true&with_replies=true'],
    ['https://nitter.net/jack', 'getProfile', '/jack'],
    ['https://x.com/jack/followers', 'listFollowers', '/jack/followers'],
    ['https://x.com/jack/following', 'listFollowing', '/jack/following'],
    ['https://x.com/search?q=heron&src=typed_query', 'searchPosts', '/search?q=heron&platform=x'],
    [
      'x.com/search?q=two%20words&f=user',
      'searchPosts',
      '/search?q=two%20words&feed=users&platform=x',
    ],
    ['https://x.com/hashtag/heron', 'searchPosts', '/search?q=%23heron&platform=x'],
    ['https://bsky.app/hashtag/heron', 'searchPosts', '/search?q=%23heron&platform=bluesky'],
    ['https://bsky.app/search?q=heron', 'searchPosts', '/search?q=heron&platform=bluesky'],
    [
      'https://bsky.app/profile/a.bsky.social/followers',
      'listFollowers',
      '/a.bsky.social/followers',
    ],
    ['https://bsky.app/profile/a.bsky.social/follows', 'listFollowing', '/a.bsky.social/following'],
    ['https://social.net/tags/heron', 'searchPosts', '/search?q=%23heron&platform=mastodon'],
    ['https://mastodon.social/search?q=heron', 'searchPosts', '/search?q=heron&platform=mastodon'],
    ['social.net/@ann/followers', 'listFollowers', '/ann@social.net/followers'],
    ['https://social.net/users/ann/following', 'listFollowing', '/ann@social.net/following'],
    [
      'https://social.net/@ann/media',
      'getProfile',
      '/ann@social.net?only_media=true&with_replies=true',
    ],
    ['https://social.net/@bea@other.org', 'getProfile', '/bea@other.org'],
    ['https://social.net/web/@ann/123', 'getPost', '/ann@social.net/status/123'],
    ['https://x.com/docs', 'getProfile', '/api/v1/profiles/docs'],
    ['https://bsky.app/profile/a.bsky.social', 'getProfile', '/a.bsky.social'],
    ['https://social.net/@ann', 'getProfile', '/ann@social.net'],
    ['https://social.net/users/ann', 'getProfile', '/ann@social.net'],
    ['@ann@social.net', 'getProfile', '/ann@social.net'],
    ['jack', 'searchPosts', '/search?q=jack'],
    ['@jack', 'getProfile', '/jack'],
    ['@ada.example', 'getProfile', '/ada.example'],
    ['ada.example', 'getProfile', '/ada.example'],
    ['ann@social.net', 'getProfile', '/ann@social.net'],
    ['did:plc:ewvi7nxzyoun6zhxrhs64oiz', 'getProfile', '/did:plc:ewvi7nxzyoun6zhxrhs64oiz'],
    ['@ada.example/followers', 'listFollowers', '/ada.example/followers'],
    ['@ada.example/following', 'listFollowing', '/ada.example/following'],
    ['ada.example/followers', 'listFollowers', '/ada.example/followers'],
    ['a.bsky.social/followers', 'listFollowers', '/a.bsky.social/followers'],
    ['@ada.example/with_replies', 'getProfile', '/ada.example?with_replies=true'],
    ['@ada.example/status/1', 'getPost', '/ada.example/status/1'],
    ['@jack/status/20', 'getPost', '/jack/status/20'],
    ['@ann@social.net/123', 'getPost', '/ann@social.net/status/123'],
    ['docs', 'searchPosts', '/search?q=docs'],
    ['@docs', 'getProfile', '/api/v1/profiles/docs'],
    ['heron', 'searchPosts', '/search?q=heron'],
    ['1900000000000000001', 'searchPosts', '/search?q=1900000000000000001'],
    ['@no-handle', 'searchPosts', '/search?q=%40no-handle'],
    ['@ada.example/likes', 'searchPosts', '/search?q=%40ada.example%2Flikes'],
    ['and/or', 'searchPosts', '/search?q=and%2For'],
    ['https is a scheme', 'searchPosts', '/search?q=https%20is%20a%20scheme'],
    ['two words', 'searchPosts', '/search?q=two%20words'],
    ['"heron"', 'searchPosts', '/search?q=%22heron%22'],
    ['#heron', 'searchPosts', '/search?q=%23heron'],
    ["it's (x)*!", 'searchPosts', '/search?q=it%27s%20%28x%29%2A%21'],
    ['javascript:alert(1)', 'searchPosts', '/search?q=javascript%3Aalert%281%29'],
    [`${baseUrl}/ada.example?limit=2&format=json`, 'getProfile', '/ada.example?limit=2'],
    ['localhost:8080/ada.example/followers', 'listFollowers', '/ada.example/followers'],
    [`${baseUrl}/ada.example/status/1/photo/2`, 'getPost', '/ada.example/status/1/photo/2'],
    ['http://127.0.0.1:8080/ada.example', 'getProfile', '/ada.example'],
    ['[::1]:8080/ada.example/followers', 'listFollowers', '/ada.example/followers'],
    [`${baseUrl}/profile/ada.example`, 'getProfile', '/profile/ada.example'],
    [`${baseUrl}/hashtag/heron`, 'searchPosts', '/hashtag/heron'],
    [`${baseUrl}/https://x.com/jack`, 'getProfile', '/jack'],
    [`${baseUrl}/search?q=a&format=json`, 'searchPosts', '/search?q=a'],
    [
      `${baseUrl}/api/v1/profiles/a/following?cursor=x`,
      'listFollowing',
      '/api/v1/profiles/a/following?cursor=x',
    ],
  ])('parses %s as the read %s at %s', (text, name, address) => {
    expect(read(text).slice(0, 2)).toEqual([name, address]);
  });

  it('returns the parameters of path and query, without format and photo number', () => {
    expect(read(`${baseUrl}/ada.example/status/1/photo/2?thread=off&format=json&url=x`)[2]).toEqual(
      {
        handle: 'ada.example',
        id: '1',
        thread: 'off',
        url: undefined,
      },
    );
  });

  it('parses its own URLs below the path of the base URL', () => {
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
    ['https://t.co/abc', 'unsupported_host'],
    ['t.co/abc', 'unsupported_host'],
    ['https://fxtwitter.com/jack/status/20', 'unsupported_host'],
    ['example.org/search?q=heron', 'unsupported_host'],
    ['node.js/express', 'unsupported_host'],
  ])('rejects %s with %s', (text, code) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code }));
  });
});

it.each([
  ['heron', { kind: 'account', text: '@heron', name: '@heron' }],
  ['Docs', { kind: 'account', text: '@Docs', name: '@Docs' }],
  ['node.js', { kind: 'search', text: '"node.js"', name: 'node.js' }],
  ['@heron', null],
  ['two words', null],
  ['a-word-with-hyphens', null],
  ['ann@social.net', null],
  ['https://x.com/jack', null],
  ['1234567890123456', null],
])('a single word %s has the other meaning %o', (text, meaning) => {
  expect(findOtherMeaning(text)).toEqual(meaning);
});
