import { expect, it } from 'vitest';
import {
  clipRanges,
  joinRanges,
  type SecondRange,
  subtractRanges,
} from '../../../src/normalize/times.ts';
import { fc } from '../../support/fast-check.ts';

const range = fc
  .tuple(fc.integer({ min: -1, max: 30 }), fc.nat(10))
  .map(([from, length]): SecondRange => {
    const fromSecond = from === -1 ? Number.NEGATIVE_INFINITY : from;
    return { fromSecond, toSecond: Math.max(from, 0) + length };
  });

/** Set of the seconds in ranges, within the bounds of these tests. */
function secondsOf(ranges: readonly SecondRange[]): readonly number[] {
  return Array.from({ length: 60 }, (_, index) => index - 10).filter((second) =>
    ranges.some(({ fromSecond, toSecond }) => second >= fromSecond && second <= toSecond),
  );
}

function expectApart(ranges: readonly SecondRange[], distance: number): void {
  for (const [index, { fromSecond, toSecond }] of ranges.entries()) {
    expect(fromSecond).toBeLessThanOrEqual(toSecond);
    const next = ranges[index + 1];
    if (next !== undefined) expect(next.toSecond).toBeLessThan(fromSecond - distance);
  }
}

it('ranges of seconds are subtracted, merged and clipped like sets of seconds', () => {
  fc.assert(
    fc.property(range, fc.array(range, { maxLength: 6 }), (whole, others) => {
      const [all, taken] = [secondsOf([whole]), new Set(secondsOf(others))];

      const left = subtractRanges(whole, others);
      const joined = joinRanges(others);
      const clipped = clipRanges(joined, whole);

      expect(secondsOf(left)).toEqual(all.filter((second) => !taken.has(second)));
      expect(secondsOf(joined)).toEqual([...taken]);
      expect(secondsOf(clipped)).toEqual(all.filter((second) => taken.has(second)));
      expectApart(left, 0);
      expectApart(joined, 1);
    }),
  );
});
