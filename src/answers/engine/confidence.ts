import type { Concepts } from './concepts.ts';
import { confidenceModel } from './confidence-model.ts';
import type { ScoredPassage } from './score.ts';

/** Result of a search, before it is decided whether to answer. */
export interface Findings {
  readonly concepts: Concepts;
  /** Best first. */
  readonly scored: readonly ScoredPassage[];
  readonly hasUnknownName: boolean;
  readonly passages: number;
}

/** Returns the signs of how well a question was met, each of a size near 1 or below. */
export function toSigns({ scored, hasUnknownName, passages }: Findings) {
  const most = (name: keyof ScoredPassage['signs']) =>
    Math.max(0, ...scored.slice(0, 3).map(({ signs }) => signs[name]));
  const top = scored[0]?.score ?? 0;
  return {
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
}

/** Returns how likely it is that the best passages answer the question, from 0 to 1. */
export function toConfidence(findings: Findings): number {
  const { bias, factors } = confidenceModel;
  const signs = Object.values(toSigns(findings));
  const sum = signs.reduce((all, sign, at) => all + sign * (factors[at] ?? 0), bias);
  return 1 / (1 + Math.exp(-sum));
}
