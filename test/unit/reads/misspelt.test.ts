import { describe, expect, it } from 'vitest';
import { findCorrection, warnAboutMisspelt } from '../../../src/reads/misspelt.ts';
import { searchPosts } from '../../../src/reads/search-posts.ts';
import { fc } from '../../support/fast-check.ts';

const known = Object.keys(searchPosts.params.shape);

describe('an unknown parameter', () => {
  it.each([
    ['limt', 'limit'],
    ['LIMIT', 'limit'],
    ['limits', 'limit'],
    ['pag', 'page'],
    ['fromat', 'format'],
    ['platfrom', 'platform'],
    ['no_cache', 'nocache'],
    ['Q', 'q'],
  ])('is recognized as a misspelling: %s is %s', (name, correction) => {
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
  ])('is ignored without a correction: %j', (name) => {
    expect(findCorrection(name, known)).toBeUndefined();
  });

  it('is named in a warning, with the parameter that was probably meant', () => {
    expect(warnAboutMisspelt(known, { q: 'fog', limt: '3', utm_source: 'x' })).toEqual([
      'The parameter `limt` does not exist and was ignored; did you mean `limit`?',
    ]);
  });

  it('causes at most five warnings', () => {
    const given = Object.fromEntries(
      'limt limi lmit limmit limitt Limit'.split(' ').map((name) => [name, '']),
    );

    expect(warnAboutMisspelt(known, given)).toHaveLength(5);
  });

  it('is ignored after the first fifty', () => {
    const many = Array.from({ length: 4000 }, (_, n) => [`a${n}`, '']);

    expect(warnAboutMisspelt(known, Object.fromEntries([...many, ['limt', '']]))).toEqual([]);
  });

  it('appears in warnings only if it has letters, digits, hyphens and underscores', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.constant('')), (given) => {
        for (const warning of warnAboutMisspelt(known, given)) {
          expect(warning).toMatch(/^The parameter `[\w-]{1,32}` .+ `[a-z]+`\?$/);
        }
      }),
    );
  });
});
