import { describe, expect, it } from 'vitest';
import {
  endOfNumbers,
  firstNumberAt,
  isSameSecond,
  nextNumber,
  toNumber,
} from '../../../../src/archive/store/post-number.ts';
import { fc } from '../../../support/fast-check.ts';

/** Up to the second last second, because there is no number after the last one. */
const at = fc.double({ min: 0, max: 2 ** 33 - 2, noNaN: true });
const kind = fc.constantFrom('post', 'repost');

describe('the number of a post', () => {
  it('is within its second, is safe, and distinguishes posts from reposts', () => {
    fc.assert(
      fc.property(at, kind, fc.string(), (time, of, key) => {
        const number = toNumber({ kind: of, at: time, key });

        expect(Number.isSafeInteger(number)).toBe(true);
        expect(number).toBeGreaterThanOrEqual(firstNumberAt(Math.floor(time)));
        expect(number).toBeLessThan(firstNumberAt(Math.floor(time) + 1));
        expect(number % 2).toBe(of === 'repost' ? 1 : 0);
      }),
    );
  });

  it('rises with the milliseconds', () => {
    const numbers = [10.001, 10.002, 10.5, 10.999].map((time) =>
      toNumber({ kind: 'post', at: time, key: 'x' }),
    );

    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(new Set(numbers).size).toBe(4);
  });

  it.each([Number.NaN, -1, -Infinity, Infinity, 1e300])('is in range for %d', (time) => {
    const number = toNumber({ kind: 'post', at: time, key: 'x' });

    expect(number).toBeGreaterThanOrEqual(0);
    expect(number).toBeLessThan(endOfNumbers);
    expect(firstNumberAt(time)).toBeLessThan(endOfNumbers);
  });

  it('has successors of the same second and kind, which wrap around', () => {
    const first = toNumber({ kind: 'repost', at: 77, key: 'x' });
    const seen = new Set<number>();
    for (let number = first; !seen.has(number); number = nextNumber(number)) seen.add(number);

    expect(seen.size).toBe(2 ** 19);
    expect([...seen].every((one) => isSameSecond(one, first) && one % 2 === 1)).toBe(true);
  });
});
