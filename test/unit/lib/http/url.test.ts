import { describe, expect, it } from 'vitest';
import { parseUrl } from '../../../../src/lib/http/url.ts';

describe('a URL', () => {
  it('keeps non-ASCII letters after many were parsed', () => {
    const texts = ['https://bücher.example/a', 'https://vogelhäuschen.example/b'];
    const parsed = Array.from({ length: 20_000 }, (_, n) => parseUrl(texts[n % 2] ?? ''));

    expect(new Set(parsed.map((url) => url?.hostname))).toEqual(
      new Set(['xn--bcher-kva.example', 'xn--vogelhuschen-lcb.example']),
    );
  });

  it('is resolved against a base', () => {
    expect(parseUrl('/b', new URL('https://a.example/c'))?.href).toBe('https://a.example/b');
  });

  it.each(['', 'a', '/a', 'https://', 'https://a b', 'http://[', 'https://x:99999'])(
    'is not %j',
    (text) => {
      expect(parseUrl(text)).toBeNull();
    },
  );
});
