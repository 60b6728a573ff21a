import { describe, expect, it } from 'vitest';
import { Problem } from '../../../../src/lib/problem.ts';
import { parsePostUrl } from '../../../../src/reads/addresses/post-address.ts';

const place = {
  baseUrl: 'http://localhost:8080',
  xMirrors: ['fxtwitter.com', 'nitter.net'],
  mastodonSearchHost: 'mastodon.social',
};

const x = (handle: string | null, id = '20') => ({ platform: 'x', handle, id });

const goodUrls: readonly (readonly [string, unknown])[] = [
  ['https://x.com/jack/status/20', x('jack')],
  ['https://X.COM/Jack/status/20', x('jack')],
  ['http://x.com/jack/status/20', x('jack')],
  ['https://www.x.com/jack/status/20', x('jack')],
  ['https://twitter.com/jack/status/20', x('jack')],
  ['https://www.twitter.com/jack/statuses/20', x('jack')],
  ['https://mobile.twitter.com/jack/status/20', x('jack')],
  ['https://x.com/i/web/status/20', x(null)],
  ['https://x.com/i/status/20', x(null)],
  ['https://x.com/jack/status/20/photo/1', x('jack')],
  ['https://x.com/jack/status/20/video/1', x('jack')],
  ['https://x.com/jack/status/20/', x('jack')],
  ['https://x.com/jack/status/20?s=20&t=abc', x('jack')],
  ['https://x.com/jack/status/20#m', x('jack')],
  ['https://x.com/%6Aack/status/20', x('jack')],
  ['https://x.com/jack/status/9223372036854775807', x('jack', '9223372036854775807')],
  [
    'https://bsky.app/profile/alice.example.com/post/3kabcdefghij2',
    { platform: 'bluesky', handle: 'alice.example.com', id: '3kabcdefghij2' },
  ],
  [
    'https://bsky.app/profile/did:plc:ewvi7nxzyoun6zhxrhs64oiz/post/3kabcdefghij2',
    {
      platform: 'bluesky',
      handle: 'did:plc:ewvi7nxzyoun6zhxrhs64oiz',
      id: '3kabcdefghij2',
    },
  ],
  [
    'https://mastodon.social/@Gargron/112',
    { platform: 'mastodon', handle: 'gargron@mastodon.social', id: '112' },
  ],
  [
    'https://mastodon.social/@anna@other.org/112',
    { platform: 'mastodon', handle: 'anna@mastodon.social', id: '112' },
  ],
  [
    'https://mastodon.social/users/Gargron/statuses/112',
    { platform: 'mastodon', handle: 'gargron@mastodon.social', id: '112' },
  ],
  [
    'https://reef.example.org/users/Wren/statuses/112/activity',
    { platform: 'mastodon', handle: 'wren@reef.example.org', id: '112' },
  ],
  [
    'https://reef.example.org/web/@Wren/112',
    { platform: 'mastodon', handle: 'wren@reef.example.org', id: '112' },
  ],
  [
    'https://reef.example.org/web/@kelp@kelp.example.net/112',
    { platform: 'mastodon', handle: 'kelp@reef.example.org', id: '112' },
  ],
  [
    'https://reef.example.org/web/statuses/112',
    { platform: 'mastodon', handle: '_@reef.example.org', id: '112' },
  ],
  [
    'https://reef.example.org/deck/@wren/01HXYZ',
    { platform: 'mastodon', handle: 'wren@reef.example.org', id: '01HXYZ' },
  ],
  [
    'http://localhost:8080/ada.example/status/1900000000000000001',
    { platform: 'sample', handle: 'ada.example', id: '1900000000000000001' },
  ],
  ['http://localhost:8080/jack/status/20/photo/2', x('jack')],
  ['https://localhost:8080/jack/status/20', x('jack')],
  ['http://localhost:8080/@jack/status/20', x('jack')],
];

/** URLs of sites that may publish ActivityPub, with the addresses of the objects that they name. */
const objects: readonly (readonly [string, string])[] = [
  ['https://reef.example.org/web/statuses/a.b', 'https://reef.example.org/web/statuses/a.b'],
  ['https://reef.example.org/web/web/@wren/1', 'https://reef.example.org/web/web/@wren/1'],
  ['https://reef.example.org/web/112', 'https://reef.example.org/web/112'],
  ['https://evilx.com/jack/status/20', 'https://evilx.com/jack/status/20'],
  ['https://x.com.evil.com/jack/status/20', 'https://x.com.evil.com/jack/status/20'],
  ['https://twitter.com.evil.com/jack/status/20', 'https://twitter.com.evil.com/jack/status/20'],
  ['https://nottwitter.com/jack/status/20', 'https://nottwitter.com/jack/status/20'],
  ['https://x.co/jack/status/20', 'https://x.co/jack/status/20'],
  ['https://xn--x-1ga.com/jack/status/20', 'https://xn--x-1ga.com/jack/status/20'],
  ['https://\u0445.com/jack/status/20', 'https://xn--u1a.com/jack/status/20'],
  ['https://blog.example.org/?p=12#comments', 'https://blog.example.org/?p=12'],
  ['http://Blog.Example.Org/2026/on-tides/', 'https://blog.example.org/2026/on-tides/'],
  [
    'https://flip.example.org/@desk/seas-7k2h1z/a-1',
    'https://flip.example.org/@desk/seas-7k2h1z/a-1',
  ],
  ['http://localhost:8080/https://blog.example.org/hi', 'https://blog.example.org/hi'],
];

/** Inputs that are not posts, with their problem codes. */
const badUrls: readonly (readonly [string, string])[] = [
  ['not a url', 'invalid_url'],
  ['https://', 'invalid_url'],
  ['https:///jack/status/20', 'unsupported_host'],
  ['https://reef.example/@wren/1', 'unsupported_host'],
  ['ftp://x.com/jack/status/20', 'invalid_url'],
  ['javascript:alert(1)', 'invalid_url'],
  ['data:text/html,x', 'invalid_url'],
  ['file:///etc/passwd', 'invalid_url'],
  ['ws://x.com/jack/status/20', 'invalid_url'],
  ['https://user@x.com/jack/status/20', 'invalid_url'],
  ['https://user:pass@x.com/jack/status/20', 'invalid_url'],
  ['https://x.com@evil.example/jack/status/20', 'invalid_url'],
  ['https://@x.com/jack/status/20', 'invalid_url'],
  ['https://:@x.com/jack/status/20', 'invalid_url'],
  ['https://x.com:8443/jack/status/20', 'invalid_url'],
  ['https://x.com/ja\tck/status/20', 'invalid_url'],
  ['https://x.com/jack/status/2 0', 'invalid_url'],
  ['https://x.com\\jack\\status\\20', 'invalid_url'],
  ['https://x.com/jack/status/20\u0000', 'invalid_url'],
  ['https://x.com.evil.example/jack/status/20', 'unsupported_host'],
  ['https://xcom/jack/status/20', 'unsupported_host'],
  ['https://x.com./jack/status/20', 'unsupported_host'],
  ['https://x.com../jack/status/20', 'unsupported_host'],
  ['https://127.0.0.1/jack/status/20', 'unsupported_host'],
  ['https://127.0.0.1/@jack/20', 'unsupported_host'],
  ['https://2130706433/@jack/20', 'unsupported_host'],
  ['https://0x7f.1/@jack/20', 'unsupported_host'],
  ['https://[::1]/@jack/20', 'unsupported_host'],
  ['https://[::ffff:127.0.0.1]/@jack/20', 'unsupported_host'],
  ['https://169.254.169.254/latest/meta-data', 'unsupported_host'],
  ['https://localhost/@jack/20', 'unsupported_host'],
  ['https://intranet/@jack/20', 'unsupported_host'],
  ['https://db.internal/@jack/20', 'unsupported_host'],
  ['https://printer.local/@jack/20', 'unsupported_host'],
  ['https://app.localhost/@jack/20', 'unsupported_host'],
  ['https://example.com/', 'unsupported_host'],
  ['https://t.co/abc', 'unsupported_host'],
  ['blog.example.org/2026/on-tides', 'unsupported_host'],
  ['https://blog.example.org:8443/2026/on-tides', 'invalid_url'],
  ['http://localhost:8081/jack/status/20', 'invalid_url'],
  ['https://x.com', 'invalid_path'],
  ['https://x.com/', 'invalid_path'],
  ['https://x.com/jack', 'invalid_path'],
  ['https://x.com/jack/status', 'invalid_path'],
  ['https://x.com/jack/status/', 'invalid_path'],
  ['https://x.com/jack/status/0', 'invalid_path'],
  ['https://x.com/jack/status/020', 'invalid_path'],
  ['https://x.com/jack/status/-20', 'invalid_path'],
  ['https://x.com/jack/status/+20', 'invalid_path'],
  ['https://x.com/jack/status/2e1', 'invalid_path'],
  ['https://x.com/jack/status/0x14', 'invalid_path'],
  ['https://x.com/jack/status/%00', 'invalid_path'],
  ['https://x.com/jack/status/\u0662\u0660', 'invalid_path'],
  [`https://x.com/jack/status/${'9'.repeat(30)}`, 'invalid_path'],
  ['https://x.com/jack/status/9223372036854775808', 'invalid_path'],
  ['https://x.com/jack%2Fstatus/20', 'invalid_path'],
  ['https://x.com/jack/status%2F20', 'invalid_path'],
  ['https://x.com/i/web/20', 'invalid_path'],
  ['https://bsky.app/', 'invalid_path'],
  ['https://bsky.app/profile/alice.example.com', 'invalid_path'],
  ['https://bsky.app/profile/jack/post/3k', 'invalid_path'],
  ['https://bsky.app/profile/alice.example.com/post/..%2f', 'invalid_path'],
  ['http://localhost:8080/', 'invalid_path'],
  ['http://localhost:8080/jack', 'invalid_path'],
  ['http://localhost:8080/api/v1/posts', 'invalid_path'],
  ['http://localhost:8080/ada.example/status/x', 'invalid_path'],
];

describe('the URL of a post', () => {
  it.each(goodUrls)('resolves %s', (url, reference) => {
    expect(parsePostUrl(url, place)).toEqual(reference);
  });

  it.each(objects)('reads %j as that of an object', (url, id) => {
    expect(parsePostUrl(url, place)).toEqual({ platform: 'activitypub', handle: null, id });
  });

  it.each(badUrls)('rejects %j with %s', (url, code) => {
    expect(codeOf(() => parsePostUrl(url, place))).toBe(code);
  });

  it('resolves its own permalinks below the path of the base URL', () => {
    const base = 'https://tools.example.org/perch';

    expect(parsePostUrl(`${base}/jack/status/20`, { ...place, baseUrl: base })).toEqual(x('jack'));
    expect(
      parsePostUrl('https://tools.example.org/jack/status/20', { ...place, baseUrl: base }),
    ).toMatchObject({ platform: 'activitypub' });
  });
});

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
  return 'nothing was thrown';
}
