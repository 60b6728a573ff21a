import type { Concepts } from '../question/concepts.ts';
import type { ScoredPassage } from '../score.ts';
import { confidenceModel } from './confidence-model.ts';

/** What was found for a question, before it is decided whether to answer. */
export interface Findings {
  readonly concepts: Concepts;
  /** Best first. */
  readonly scored: readonly ScoredPassage[];
  readonly hasUnknownName: boolean;
  /** The number of passages in the index. */
  readonly passages: number;
}

/** The signs that confidence is made of, in the order of the model's factors. */
export const confidenceSigns = [
  'coverage',
  'focus',
  'lead',
  'score',
  'spread',
  'unknownName',
  'size',
] as const;

/** How many of the best passages are checked for what they meet together. */
const looked = 3;

/** Returns the signs of how well a question was met, each of a size near 1 or below. */
export function toSigns({ scored, hasUnknownName, passages }: Findings): readonly number[] {
  const best = scored.slice(0, looked);
  const most = (name: keyof ScoredPassage['signs']) =>
    Math.max(0, ...best.map(({ signs }) => signs[name]));
  const top = best[0]?.score ?? 0;
  const signs: Readonly<Record<(typeof confidenceSigns)[number], number>> = {
    coverage: most('coverage'),
    focus: most('headingFocus'),
    lead: most('leadCoverage'),
    score: top / 3,
    // How far the best is ahead of what is only near.
    spread: Math.min(1, top - (scored[9]?.score ?? 0)),
    unknownName: hasUnknownName ? 1 : 0,
    // In large docs something always comes near; small ones lack plain words.
    size: Math.log10(Math.max(1, passages)) - 3,
  };
  return confidenceSigns.map((name) => signs[name]);
}

/** Returns how likely it is that the best passages answer the question, from 0 to 1. */
export function toConfidence(findings: Findings): number {
  const { bias, factors } = confidenceModel;
  const sum = toSigns(findings).reduce((all, sign, at) => all + sign * (factors[at] ?? 0), bias);
  return 1 / (1 + Math.exp(-sum));
}
