import { describe, expect, it } from 'vitest';
import { isPostId, parseHandle } from '../../../src/model/reference.ts';

describe('parseHandle', () => {
  it.each([
    ['jack', 'x', 'jack'],
    ['@Jack_99', 'x', 'jack_99'],
    ['ada.example', 'sample', 'ada.example'],
    ['Alice.Example.COM', 'bluesky', 'alice.example.com'],
    ['did:plc:ewvi7nxzyoun6zhxrhs64oiz', 'bluesky', 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'],
    ['did:web:Kites.Example.org', 'bluesky', 'did:web:kites.example.org'],
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
    'did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme',
    'anna@localhost',
    'anna@10.0.0.1',
    'a..b',
    '.example',
    'юля',
  ])('refuses %j', (text) => {
    expect(parseHandle(text)).toBeNull();
  });
});

it('isPostId limits ids of X to the maximum signed 64-bit number', () => {
  expect(isPostId('x', '9223372036854775807')).toBe(true);
  expect(isPostId('x', '9223372036854775808')).toBe(false);
});
