import { expect, it } from 'vitest';
import { type Findings, toConfidence } from '../../../../src/answers/engine/confidence.ts';

/** Returns the confidence in a passage whose heading has a share of the question. */
function confidenceOf(headingCoverage: number, isOutside: boolean): number {
  const features = { coverage: 1, headingFocus: 0.5, leadCoverage: 0.5, headingCoverage };
  const findings = { scored: [{ features, score: 2 }], hasUnknownName: false, passages: 900 };
  // Only these members are read.
  return toConfidence({ ...findings, isOutside } as unknown as Findings);
}

it('lowers the confidence for a question outside of documentation, unless a heading has it', () => {
  const usual = confidenceOf(0.5, false);

  expect(confidenceOf(0.5, true)).toBeCloseTo(0.4 * usual);
  expect(confidenceOf(0.9, true)).toBe(usual);
  expect(confidenceOf(0.9, false)).toBe(usual);
});
