import { expect, it } from 'vitest';
import { scanFacets, tagUrl } from '../../../src/normalize/tags.ts';
import { expectFacetsFit } from '../../suites/provider-suite.ts';
import { fc } from '../../support/fast-check.ts';

it('tagUrl returns null for an invalid name', () => {
  expect(tagUrl('hashtag', '')).toBeNull();
  expect(tagUrl('hashtag', '\ud83d')).toBeNull();
  expect(tagUrl('hashtag', '#鷺/?')).toBe('https://x.com/hashtag/%E9%B7%BA%2F%3F');
});

it('scanFacets returns valid facets for arbitrary texts', () => {
  const part = fc.constantFrom('@', '#', '🐦', ' ', 'a', '1', '_', '鷺', '.', '/', '\ud83d');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const text = parts.join('');

      expectFacetsFit(text, scanFacets(text));
    }),
  );
});
