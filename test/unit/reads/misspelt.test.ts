import { describe, expect, it } from 'vitest';
import { findCorrection, warnAboutMisspelt } from '../../../src/reads/misspelt.ts';
import { searchPosts } from '../../../src/reads/search-posts.ts';
import { fc } from '../../support/fast-check.ts';

const known = Object.keys(searchPosts.params.shape);

describe('a parameter that a read ignores', () => {
  it.each([
    ['limt', 'limit'],
    ['LIMIT', 'limit'],
    ['limits', 'limit'],
    ['pag', 'page'],
    ['fromat', 'format'],
    ['platfrom', 'platform'],
    ['no_cache', 'nocache'],
    ['Q', 'q'],
  ])('is taken for a misspelling: %s is %s', (name, correction) => {
    expect(findCorrection(name, known)).toBe(correction);
  });

  it.each([
    's',
    't',
    'v',
    'ref',
    'lang',
    'sort',
    'type',
    'count',
    'utm_source',
    'fbclid',
    'limit[]',
    'limіt', // with a Cyrillic letter
    'limit\u202e',
    '<limit>',
    `limit${'x'.repeat(40)}`,
    '',
  ])('is none of ours: %j', (name) => {
    expect(findCorrection(name, known)).toBeUndefined();
  });

  it('is named in a warning, with the one that was meant', () => {
    expect(warnAboutMisspelt(known, { q: 'fog', limt: '3', utm_source: 'x' })).toEqual([
      'The parameter `limt` does not exist and was ignored; did you mean `limit`?',
    ]);
  });

  it('is one of five at most', () => {
    const given = Object.fromEntries(
      'limt limi lmit limmit limitt Limit'.split(' ').map((name) => [name, '']),
    );

    expect(warnAboutMisspelt(known, given)).toHaveLength(5);
  });

  it('is not looked for among endless ones', () => {
    const many = Array.from({ length: 4000 }, (_, n) => [`a${n}`, '']);

    expect(warnAboutMisspelt(known, Object.fromEntries([...many, ['limt', '']]))).toEqual([]);
  });

  it('is shown with nothing but letters, digits, hyphens and underscores of its name', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.constant('')), (given) => {
        for (const warning of warnAboutMisspelt(known, given)) {
          expect(warning).toMatch(/^The parameter `[\w-]{1,32}` .+ `[a-z]+`\?$/);
        }
      }),
    );
  });
});
