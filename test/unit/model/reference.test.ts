import { describe, expect, it } from 'vitest';
import { isPostId, parseHandle, parseMastodonOrigin } from '../../../src/model/reference.ts';

describe('parseHandle', () => {
  it.each([
    ['jack', 'x', 'jack'],
    ['@Jack_99', 'x', 'jack_99'],
    ['ada.example', 'sample', 'ada.example'],
    ['Alice.Example.COM', 'bluesky', 'alice.example.com'],
    ['did:plc:ewvi7nxzyoun6zhxrhs64oiz', 'bluesky', 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'],
    ['anna@mastodon.social', 'mastodon', 'anna@mastodon.social'],
    ['@anna@mastodon.social', 'mastodon', 'anna@mastodon.social'],
  ])('parses %s as a handle of %s', (text, platform, handle) => {
    expect(parseHandle(text)).toEqual({ platform, handle });
  });

  it.each([
    '',
    '@',
    '@@jack',
    'has space',
    'jack!',
    'a'.repeat(16),
    'did:web:x',
    'anna@localhost',
    'anna@10.0.0.1',
    'a..b',
    '.example',
    'юля',
  ])('refuses %j', (text) => {
    expect(parseHandle(text)).toBeNull();
  });
});

describe('parseMastodonOrigin', () => {
  it.each([
    'https://reef.example.org/@wren/1',
    'https://reef.example.org/users/wren/statuses/1',
    'https://reef.example.org/users/wren/statuses/1/activity',
  ])('parses %s', (url) => {
    expect(parseMastodonOrigin(url)).toEqual({
      platform: 'mastodon',
      handle: 'wren@reef.example.org',
      id: '1',
    });
  });

  it.each([
    '',
    'http://reef.example.org/@wren/1',
    'https://reef.example.org:8443/@wren/1',
    'https://reef.example.org/@kelp@kelp.example.net/1',
    'https://reef.example.org/notice/1',
    'https://127.0.0.1/@wren/1',
    'https://localhost/@wren/1',
    'at://did:plc:x/app.bsky.feed.post/3k',
  ])('refuses %s', (url) => {
    expect(parseMastodonOrigin(url)).toBeNull();
  });
});

describe('isPostId', () => {
  it('limits ids of X to the maximum signed 64-bit number', () => {
    expect(isPostId('x', '9223372036854775807')).toBe(true);
    expect(isPostId('x', '9223372036854775808')).toBe(false);
  });
});
