import type { Concepts } from './concepts.ts';
import { confidenceModel } from './confidence-model.ts';
import type { CodeQuestion } from './definitions.ts';
import type { Query } from './query.ts';
import type { ScoredPassage } from './score.ts';

/** Query for a follow-up question. `isNamed`: whether the question asks for a name, such as the name of a variable. */
export type FollowUpQuery = Readonly<{ query: Query; isNamed: boolean }>;

/** Result of a search, from which `toConfidence` computes the confidence of an answer. */
export interface Findings {
  readonly concepts: Concepts;
  readonly code: CodeQuestion;
  /**
   * For a follow-up question: its query, and the id of the passage that the previous answer cited first. `undefined` if
   * the question is not a follow-up, or if the search for the question did not find that passage.
   */
  readonly repeated: (FollowUpQuery & { readonly id: number }) | undefined;
  /** Passages found by the search, sorted by descending score. */
  readonly scored: readonly ScoredPassage[];
  readonly hasUnknownName: boolean;
  /** Whether the question asks for something that documentation rarely contains, such as prices or opinions. */
  readonly isOutside: boolean;
  readonly passages: number;
}

/**
 * Returns the input features of the confidence model. Most are between 0 and 1. `size` is negative if the index has
 * fewer than 1000 passages.
 */
export function toFeatures({ scored, hasUnknownName, passages }: Findings) {
  const highest = (name: keyof ScoredPassage['features']) =>
    Math.max(0, ...scored.slice(0, 3).map(({ features }) => features[name]));
  const top = scored[0]?.score ?? 0;
  return {
    coverage: highest('coverage'),
    focus: highest('headingFocus'),
    lead: highest('leadCoverage'),
    score: top / 3,
    // Difference between the scores of the best and the tenth passage.
    spread: Math.min(1, top - (scored[9]?.score ?? 0)),
    unknownName: hasUnknownName ? 1 : 0,
    // Large documentation always has a similar passage. Small documentation lacks common words.
    size: Math.log10(Math.max(1, passages)) - 3,
  };
}

/**
 * Reduction of the confidence for questions of kinds that documentation rarely answers, such as prices or opinions: the
 * confidence is multiplied by `factor`. Not applied if the heading of one of the three best passages contains at least
 * the share `minCoverage` (0 to 1) of the question's words.
 */
const outside = { minCoverage: 0.8, factor: 0.4 } as const;

/** Returns the likelihood that the best passages answer the question, from 0 to 1. */
export function toConfidence(findings: Findings): number {
  const { bias, factors } = confidenceModel;
  const features = Object.values(toFeatures(findings));
  const sum = features.reduce((all, feature, at) => all + feature * (factors[at] ?? 0), bias);
  const likelihood = 1 / (1 + Math.exp(-sum));
  const { isOutside, scored } = findings;
  const isNamed = scored
    .slice(0, 3)
    .some(({ features: { headingCoverage } }) => headingCoverage >= outside.minCoverage);
  return isOutside && !isNamed ? outside.factor * likelihood : likelihood;
}
