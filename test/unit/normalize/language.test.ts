import { describe, expect, it } from 'vitest';
import { checkLanguages, toLanguage } from '../../../src/normalize/language.ts';
import { ada, status } from '../../support/render-posts.ts';

describe('toLanguage', () => {
  it.each([
    ...['de', 'no', 'PT-br', 'zh-Hant-TW', 'zh-yue-HK', 'es-419', 'sl-rozaj-biske', 'de-1996'],
    ...['gsw', 'und', 'zxx', 'qme', 'x-perch', 'en-a-bbb-x-a', 'i-klingon', 'en-GB-oed', 'zh-min'],
  ])('keeps the tag %j', (tag) => {
    expect(toLanguage(tag)).toBe(tag);
  });

  it.each([
    ...['', 'e', 'en_GB', 'en-', '-en', 'en--GB', 'English (UK)', 'en GB', 'en\n', '日本語', 'x-'],
    ...['123', '1.5', '~', '<% x %>', 'en-x', 'en-a', 'abcdefghi', `en${'-abcde'.repeat(20)}`],
    ...[null, undefined],
  ])('returns null for %j', (tag) => {
    expect(toLanguage(tag)).toBeNull();
  });

  it('is checked in the quotes of a post too', () => {
    const quote = status(2, ada, 'b', { lang: 'en_GB' });
    const post = status(1, ada, 'a', { lang: 'fr', quote });

    expect(checkLanguages(post)).toEqual({ ...post, quote: { ...quote, lang: null } });
  });
});
