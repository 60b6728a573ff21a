import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  count,
  listOf,
  textOrNull,
  token,
  tokenOrNull,
  url,
  urlOrNull,
} from '../../../src/normalize/lenient.ts';

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

describe('a schema of a machine-readable text', () => {
  it.each([
    'a\nb: c',
    'a\r\nb',
    'a\u001b[31m',
    'a\u0000',
    'a\u0085',
    'a\u2028b',
    'a\u202eb',
    'a\u2066b',
  ])('refuses the characters in %j', (value) => {
    for (const schema of [token, url]) expect(schema.safeParse(value).success).toBe(false);
    for (const schema of [tokenOrNull, urlOrNull]) expect(schema.parse(value)).toBeNull();
  });

  it.each(['video/mp4', '👩‍💻', 'zh-Hant', 'https://a.example/ü'])('accepts %s', (value) => {
    for (const schema of [token, tokenOrNull, url, urlOrNull]) {
      expect(schema.parse(value)).toBe(value);
    }
  });
});
