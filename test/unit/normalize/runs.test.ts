import { describe, expect, it } from 'vitest';
import type { Facet } from '../../../src/model/post.ts';
import { nestRuns } from '../../../src/normalize/runs.ts';
import { toCodePoints } from '../../../src/normalize/text.ts';
import { expectFacetsFit } from '../../suites/provider-suite.ts';
import { fc } from '../../support/fast-check.ts';

describe('nestRuns', () => {
  const run = fc.record(
    {
      type: fc.constantFrom<Facet['type'][]>('bold', 'link'),
      start: fc.integer({ min: -3, max: 25 }),
      end: fc.integer({ min: -3, max: 25 }),
      url: fc.constant('https://perch.example/'),
    },
    { requiredKeys: ['type', 'start', 'end'] },
  );

  it('nests arbitrary ranges', () => {
    fc.assert(
      fc.property(fc.array(run, { maxLength: 20 }), (runs) => {
        expectFacetsFit('x'.repeat(20), nestRuns(runs, 20));
      }),
    );
  });

  it('splits no link, and removes overlapping links', () => {
    fc.assert(
      fc.property(fc.array(run, { maxLength: 20 }), (runs) => {
        const links = nestRuns(runs, 20).filter(({ url }) => url !== undefined);

        expect(runs).toEqual(expect.arrayContaining([...links]));
        for (const [index, link] of links.slice(1).entries()) {
          expect(link.start).toBeGreaterThanOrEqual(links[index]?.end ?? 0);
        }
      }),
    );
  });

  it('does not multiply styles that cross many others', () => {
    const outer = Array.from({ length: 300 }, (_, index) => ({ start: index, end: 1000 - index }));
    const crossing = Array.from({ length: 300 }, (_, index) => ({
      start: 300 + index,
      end: 1100 + index,
    }));

    const nested = nestRuns([...outer, ...crossing], 2000);

    expect(nested.length).toBeLessThan(17 * 600);
    expect(nested[0]).toEqual({ start: 0, end: 1000 });
  });

  it('keeps every code point of a style that is in range', () => {
    const styles = fc.array(
      fc.record({ start: fc.integer({ min: 0, max: 20 }), end: fc.integer({ min: 0, max: 20 }) }),
    );
    fc.assert(
      fc.property(styles, (runs) => {
        const covered = (all: readonly { start: number; end: number }[]) =>
          toCodePoints('x'.repeat(20)).map(
            (_, at) => all.filter(({ start, end }) => start <= at && at < end).length,
          );

        expect(covered(nestRuns(runs, 20))).toEqual(covered(runs));
      }),
    );
  });
});
