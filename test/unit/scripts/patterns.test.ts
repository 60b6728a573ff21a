import { describe, expect, it } from 'vitest';
import { findPatterns } from '../../../scripts/patterns/find-patterns.ts';
import {
  judgePattern,
  type Verdict,
  writeAttack,
} from '../../../scripts/patterns/judge-pattern.ts';
import { type Review, reviewPatterns } from '../../../scripts/patterns/review-patterns.ts';

it('findPatterns finds all literals in any TypeScript syntax, and all calls of RegExp', () => {
  const text = `
      const schema = z.string().regex(/^a+$/u) satisfies z.ZodType<string>;
      const half = (1 as number) / 2 / 3;
      const text = \`a \${value.replace(/[\`/]/g, '')} /no pattern/\`;
      const made = new RegExp(\`^\${prefix}\`);
      const other = RegExp('b');
    `;

  expect(findPatterns('a.ts', text)).toEqual({
    literals: [
      { file: 'a.ts', line: 2, source: '^a+$', flags: 'u' },
      { file: 'a.ts', line: 4, source: '[`/]', flags: 'g' },
    ],
    dynamic: [
      { file: 'a.ts', line: 5 },
      { file: 'a.ts', line: 6 },
    ],
  });
});

describe('judgePattern', () => {
  it.each([
    ['^[a-z]+$', 'i'],
    ['"(?:\\\\.|[^"\\\\])*"?', 'g'],
    // recheck cannot decide this one, and searches for attacks.
    ['(?<![^\\s])#.*|(?<![\\w.])-?\\d+(?![\\w.])', 'gm'],
  ])('classifies /%s/%s as linear', (source, flags) => {
    expect(judgePattern(source, flags)).toEqual({ status: 'linear' });
  });

  it.each([
    ['([?&][^=&]*key[^=&]*=)[^&]*', 'gi', '3rd degree polynomial'],
    ['\\s+$', '', '2nd degree polynomial'],
    ['^(?:a|a)*$', '', 'exponential'],
    ['(?<![^\\s])#|\\d+(?!\\d|b)$', '', '2nd degree polynomial (fuzz)'],
  ])('classifies /%s/%s as superlinear', (source, flags, degree) => {
    expect(judgePattern(source, flags)).toMatchObject({ status: 'superlinear', degree });
  });
});

it('writeAttack repeats the pumps up to the given length', () => {
  const parts = [
    { prefix: '?', pump: 'ab' },
    { prefix: '&', pump: 'c' },
  ];

  expect(writeAttack({ parts, suffix: '!' }, 12)).toBe('?ababab&ccc!');
});

const quadratic: Verdict = {
  status: 'superlinear',
  degree: '2nd degree polynomial',
  attack: { parts: [{ prefix: '', pump: ' ' }], suffix: 'x' },
};
const pattern = { file: 'a.ts', line: 3, source: '\\s+$', flags: '' };
const exception = {
  file: 'a.ts',
  pattern: '/\\s+$/',
  maxLength: 100,
  bound: 'names have at most 100 characters',
  worstMs: 0.1,
};

function review(given: Partial<Review>): readonly string[] {
  const none = { literals: [], places: [], recorded: [], exceptions: [], dynamicPatterns: [] };
  return reviewPatterns({ ...none, judge: () => quadratic, ...given });
}

describe('reviewPatterns', () => {
  it('rejects a superlinear pattern', () => {
    expect(review({ literals: [pattern] })).toEqual([
      expect.stringMatching(/^a\.ts:3: \/\\s\+\$\/ takes 2nd degree polynomial time/),
    ]);
  });

  it('rejects a pattern that the analyser could not decide', () => {
    const judge = () => ({ status: 'unproved', reason: 'timeout' }) as const;

    expect(review({ literals: [pattern], judge })).toEqual([
      'a.ts:3: /\\s+$/ is not proved to be linear (timeout).',
    ]);
  });

  it('accepts a listed exception that is fast enough on its longest input', () => {
    expect(review({ literals: [pattern], exceptions: [exception] })).toEqual([]);
  });

  it('rejects a listed exception that is slow on its longest input', () => {
    const slow = { ...exception, maxLength: 5_000 };

    expect(review({ literals: [pattern], exceptions: [slow] })).toEqual([
      expect.stringMatching(/ takes [\d.]+ ms on 5000 characters, over 5 ms\.$/),
    ]);
  });

  it('rejects an exception for a pattern that is linear or does not exist', () => {
    const judge = () => ({ status: 'linear' }) as const;
    const gone = { ...exception, file: 'b.ts' };

    expect(review({ literals: [pattern], exceptions: [exception, gone], judge })).toEqual([
      'a.ts: the exception for /\\s+$/ is not needed.',
      'b.ts: the exception for /\\s+$/ is not needed.',
    ]);
  });

  it('rejects locations that are not listed, and those that created no pattern', () => {
    const place = { file: 'a.ts', line: 3 };

    expect(review({ places: [place] })).toEqual([
      'a.ts:3 creates a pattern, but dynamicPatterns does not list a.ts.',
      'a.ts:3 created no pattern to analyse.',
    ]);
    expect(review({ dynamicPatterns: [{ file: 'b.ts', madeOf: 'constants' }] })).toEqual([
      'b.ts creates no patterns, but dynamicPatterns lists it.',
    ]);
  });
});
