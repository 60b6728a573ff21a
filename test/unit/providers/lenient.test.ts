import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { count, eachOf, words } from '../../../src/providers/lenient.ts';

describe('a lenient schema', () => {
  const schema = z.object({ name: words, likes: count, tags: eachOf(z.string()) });

  it.each([
    [{}, { name: null, likes: null, tags: [] }],
    [
      { name: '', likes: '7', tags: 'heron' },
      { name: null, likes: null, tags: [] },
    ],
    [
      { name: 'Mira', likes: 7, tags: ['heron', null, 4, 'stork'] },
      { name: 'Mira', likes: 7, tags: ['heron', 'stork'] },
    ],
  ])('reads of %o what is readable', (row, expected) => {
    expect(schema.parse(row)).toEqual(expected);
  });

  it('reads no further in a list of which nothing can be read', () => {
    let asked = 0;
    const counted = z.unknown().transform((value, context) => {
      asked += 1;
      if (typeof value === 'string') return value;
      context.addIssue({ code: 'custom', message: 'This is no name.' });
      return z.NEVER;
    });

    expect(eachOf(counted).parse(['Mira', ...Array(100_000).fill(null)])).toEqual(['Mira']);
    expect(asked).toBeLessThan(200);
  });
});
