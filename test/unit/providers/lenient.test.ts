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
});
