import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { count, listOf, textOrNull } from '../../../src/platforms/lenient.ts';

describe('a lenient schema', () => {
  const schema = z.object({ name: textOrNull, likes: count, tags: listOf(z.string(), 9) });

  it.each([
    [{}, { name: null, likes: null, tags: [] }],
    [
      { name: '', likes: '7', tags: 'heron' },
      { name: null, likes: null, tags: [] },
    ],
    [
      { name: 'Mira', likes: 7, tags: ['heron', null, 4, 'stork'] },
      { name: 'Mira', likes: 7, tags: Object.assign(['heron', 'stork'], { leftOut: 2 }) },
    ],
    [
      { tags: Array(12).fill('heron') },
      { name: null, likes: null, tags: Object.assign(Array(9).fill('heron'), { leftOut: 3 }) },
    ],
  ])('parses the readable parts of %o', (row, expected) => {
    expect(schema.parse(row)).toEqual(expected);
  });

  it('stops reading a list of malformed items', () => {
    let parsed = 0;
    const counted = z.unknown().transform((value, context) => {
      parsed += 1;
      if (typeof value === 'string') return value;
      context.addIssue({ code: 'custom', message: 'This is no name.' });
      return z.NEVER;
    });

    const read = listOf(counted, 1000).parse(['Mira', ...Array(100_000).fill(null)]);

    expect([...read, read.leftOut]).toEqual(['Mira', 100_000]);
    expect(parsed).toBeLessThan(200);
  });
});
