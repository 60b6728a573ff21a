import { describe, expect, it } from 'vitest';
import { toInstance } from '../../../src/routes/problems.ts';

describe('toInstance', () => {
  it.each([
    [
      '/api/v1/posts?url=a&api_key=abc&full=true',
      '/api/v1/posts?url=a&api_key=%E2%80%A6&full=true',
    ],
    ['/search?q=a&Access-Token=abc', '/search?q=a&Access-Token=%E2%80%A6'],
    ['/search?password=a=b=c&q=a', '/search?password=%E2%80%A6&q=a'],
    ['/search&secret=abc', '/search&secret=%E2%80%A6'],
    [
      '/api/v1/posts?url=https://a.example/?token=abc',
      '/api/v1/posts?url=https://a.example/?token=%E2%80%A6',
    ],
    ['/search?x?key=abc', '/search?x?key=%E2%80%A6'],
    ['/https://me:abc@x.com/jack/status/20', '/https://%E2%80%A6@x.com/jack/status/20'],
    ['/api/v1/posts?url=https://me:abc@x.com/a', '/api/v1/posts?url=https://%E2%80%A6@x.com/a'],
    [
      '/api/v1/posts?url=https%3A%2F%2Fme%3Aabc%40x.com%2Fa&limit=1',
      '/api/v1/posts?url=https://%E2%80%A6@x.com/a&limit=1',
    ],
  ])('redacts parameters with secret names in %s', (url, instance) => {
    expect(toInstance(url)).toBe(instance);
  });

  it.each([
    '/api/admin/keys?full=true',
    '/monkey=1/posts',
    '/search?q=key&limit=3',
    '/search?key&token',
    '/https://mastodon.example/@ada',
    '/api/v1/posts?url=https%3A%2F%2Fmastodon.example%2F%40ada',
    '/@ada@mastodon.example',
    '/search',
    '',
  ])('does not change %s', (url) => {
    expect(toInstance(url)).toBe(url);
  });

  it('encodes characters that a URI cannot contain', () => {
    expect(toInstance('/search?q=é <b>"{x}"')).toBe('/search?q=%C3%A9%20%3Cb%3E%22%7Bx%7D%22');
  });
});
