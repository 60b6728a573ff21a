import { describe, expect, it } from 'vitest';
import { findPatterns } from '../../../scripts/patterns/find-patterns.ts';
import {
  judgePattern,
  type Verdict,
  writeAttack,
} from '../../../scripts/patterns/judge-pattern.ts';
import { type Review, reviewPatterns } from '../../../scripts/patterns/review-patterns.ts';

describe('findPatterns', () => {
  it('finds every literal, in any syntax of TypeScript, and every call of RegExp', () => {
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
});

describe('judgePattern', () => {
  it.each([
    ['^[a-z]+$', 'i'],
    ['"(?:\\\\.|[^"\\\\])*"?', 'g'],
    // Undecided by proof, and searched for attacks.
    ['(?<![^\\s])#.*|(?<![\\w.])-?\\d+(?![\\w.])', 'gm'],
  ])('calls /%s/%s linear', (source, flags) => {
    expect(judgePattern(source, flags)).toEqual({ status: 'linear' });
  });

  it.each([
    ['([?&][^=&]*key[^=&]*=)[^&]*', 'gi', '3rd degree polynomial'],
    ['\\s+$', '', '2nd degree polynomial'],
    ['^(?:a|a)*$', '', 'exponential'],
    ['(?<![^\\s])#|\\d+(?!\\d|b)$', '', '2nd degree polynomial (fuzz)'],
  ])('calls /%s/%s superlinear', (source, flags, degree) => {
    expect(judgePattern(source, flags)).toMatchObject({ status: 'superlinear', degree });
  });
});

describe('writeAttack', () => {
  it('repeats the pumps up to a length', () => {
    const parts = [
      { prefix: '?', pump: 'ab' },
      { prefix: '&', pump: 'c' },
    ];

    expect(writeAttack({ parts, suffix: '!' }, 12)).toBe('?ababab&ccc!');
  });
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
  it('refuses a superlinear pattern', () => {
    expect(review({ literals: [pattern] })).toEqual([
      expect.stringMatching(/^a\.ts:3: \/\\s\+\$\/ takes time of a 2nd degree polynomial/),
    ]);
  });

  it('refuses a pattern on which the analyser gave up', () => {
    const judge = () => ({ status: 'unproved', reason: 'timeout' }) as const;

    expect(review({ literals: [pattern], judge })).toEqual([
      'a.ts:3: /\\s+$/ is not proved to be linear (timeout).',
    ]);
  });

  it('accepts one that is listed and fast enough on the longest input', () => {
    expect(review({ literals: [pattern], exceptions: [exception] })).toEqual([]);
  });

  it('refuses one that is listed and slow on the longest input', () => {
    const slow = { ...exception, maxLength: 5_000 };

    expect(review({ literals: [pattern], exceptions: [slow] })).toEqual([
      expect.stringMatching(/ takes [\d.]+ ms on 5000 characters, over 5 ms\.$/),
    ]);
  });

  it('refuses an exception for a pattern that is linear or gone', () => {
    const judge = () => ({ status: 'linear' }) as const;
    const gone = { ...exception, file: 'b.ts' };

    expect(review({ literals: [pattern], exceptions: [exception, gone], judge })).toEqual([
      'a.ts: the exception for /\\s+$/ is not needed.',
      'b.ts: the exception for /\\s+$/ is not needed.',
    ]);
  });

  it('refuses places that create patterns and are not listed, or create nothing to analyse', () => {
    const place = { file: 'a.ts', line: 3 };

    expect(review({ places: [place] })).toEqual([
      'a.ts:3 creates a pattern, and dynamicPatterns has no a.ts.',
      'a.ts:3 created no pattern to analyse.',
    ]);
    expect(review({ dynamicPatterns: [{ file: 'b.ts', madeOf: 'constants' }] })).toEqual([
      'b.ts creates no patterns, and dynamicPatterns lists it.',
    ]);
  });
});
