import { describe, expect, it } from 'vitest';
import { createAccountHash } from '../../../src/access/allowance-hash.ts';

const seed = Buffer.from('0123456789abcdef', 'hex');

describe('the hash of account names', () => {
  it('tells apart names that differ by a character, by length or by order', () => {
    const hash = createAccountHash(seed);
    const names = ['', '\0', '\0\0', 'a', 'b', 'ab', 'ba', 'a\0', 'aa', 'aaa', '\u0101', 'é', '鳥'];

    const ids = names.map((name) => Object.values(hash(name)).join());

    expect(new Set(ids).size).toBe(names.length);
    expect(names.map((name) => Object.values(hash(name)).join())).toEqual(ids);
  });

  it('depends on every bit of the seed', () => {
    const ids = Array.from({ length: 65 }, (_, bit) => {
      const changed = Buffer.from(seed);
      if (bit < 64) changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return createAccountHash(changed)('public 203.0.113.7');
    });

    expect(new Set(ids.map(({ hi }) => hi)).size).toBe(65);
    expect(new Set(ids.map(({ lo }) => lo)).size).toBe(65);
  });

  it('spreads neighbours evenly', () => {
    const hash = createAccountHash(seed);
    const names = 4096;
    const ids = Array.from({ length: names }, (_, index) =>
      hash(`public 10.0.${index >> 8}.${index & 255}`),
    );

    const ones = Array.from({ length: 64 }, (_, bit) => {
      const words = ids.map(({ hi, lo }) => (bit < 32 ? lo : hi));
      return words.filter((word) => ((word >>> (bit & 31)) & 1) === 1).length;
    });

    // Six standard deviations around half of the names.
    expect(Math.max(...ones)).toBeLessThan(names / 2 + 6 * 32);
    expect(Math.min(...ones)).toBeGreaterThan(names / 2 - 6 * 32);
  });
});
