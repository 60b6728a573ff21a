import { describe, expect, it } from 'vitest';
import { createOwnLinks, createPageUrls } from '../../../../src/routes/pages/own-links.ts';

const options = {
  baseUrl: 'https://perch.test',
  xMirrors: ['nitter.net'],
  mastodonSearchHost: 'mastodon.social',
};
const toPage = createPageUrls(options);

describe('the page of a URL', () => {
  it.each([
    ['https://x.com/jack/status/20', '/jack/status/20'],
    ['https://twitter.com/jack', '/jack'],
    ['https://nitter.net/jack/status/20', '/jack/status/20'],
    ['https://bsky.app/profile/alice.example.com', '/alice.example.com'],
    ['https://mastodon.social/@ada/109', '/ada@mastodon.social/status/109'],
  ])('%s is %s, with an original', (url, path) => {
    expect(toPage(url, null)).toEqual({
      url: `https://perch.test${path}?format=html`,
      hasOriginal: true,
    });
  });

  it.each([
    'https://x.com/hashtag/fog',
    'https://x.com/search?q=fog',
    'https://bsky.app/hashtag/fog',
    'https://mastodon.social/tags/fog',
    'https://x.com/jack/followers',
  ])('%s has no original', (url) => {
    expect(toPage(url, null)?.hasOriginal).toBe(false);
  });

  it.each([
    'https://x.com/home',
    'https://x.com:8443/jack',
    'https://x.com.evil.test/jack',
    'https://user@x.com/jack',
    'https://shop.example.com/@ada/109',
    'https://social.example.com/about',
    'https://perch.test/docs',
    'mailto:ada@x.com',
    'javascript:alert(1)',
  ])('%s does not exist', (url) => {
    expect(toPage(url, 'social.example.com')).toBeNull();
  });

  it('keeps the parameters of a URL of this server except `format`', () => {
    expect(toPage('https://perch.test/ada.example?limit=2&format=json', null)).toEqual({
      url: 'https://perch.test/ada.example?limit=2&format=html',
      hasOriginal: false,
    });
  });

  it('trusts the Mastodon server of the result', () => {
    const url = 'https://social.example.com/@ada/109';

    expect(toPage(url, 'social.example.com')?.hasOriginal).toBe(true);
    expect(toPage(url, null)).toBeNull();
  });

  it('can be another page', () => {
    const toOther = createOwnLinks(options, (address, url) => `${address} ${url}`);

    expect(toOther('https://x.com/jack', null)?.url).toBe('/jack https://x.com/jack');
    expect(toOther('https://perch.test/https://x.com/jack/status/20', null)?.url).toBe(
      '/jack/status/20 https://perch.test/jack/status/20',
    );
  });
});
