import type { Concepts } from './concepts.ts';
import { confidenceModel } from './confidence-model.ts';
import type { Query } from './query.ts';
import type { ScoredPassage } from './score.ts';

/** Query from a follow-up's own words. `isNamed`: whether the follow-up asks for a name, such as a variable's. */
export type FollowUpQuery = Readonly<{ query: Query; isNamed: boolean }>;

/** Result of a search, from which `toConfidence` computes the confidence of an answer. */
export interface Findings {
  readonly concepts: Concepts;
  /** Follow-up's query and the id of the passage quoted first in the previous turn; `undefined` without such a passage. */
  readonly repeated: (FollowUpQuery & { readonly id: number }) | undefined;
  /** Passages found, by descending score. */
  readonly scored: readonly ScoredPassage[];
  readonly hasUnknownName: boolean;
  /** Whether the question asks for something that documentation rarely contains, such as prices or opinions. */
  readonly isOutside: boolean;
  readonly passages: number;
}

/** Returns the inputs of the confidence model, each scaled to about 1 or less. */
export function toFeatures({ scored, hasUnknownName, passages }: Findings) {
  const highest = (name: keyof ScoredPassage['features']) =>
    Math.max(0, ...scored.slice(0, 3).map(({ features }) => features[name]));
  const top = scored[0]?.score ?? 0;
  return {
    coverage: highest('coverage'),
    focus: highest('headingFocus'),
    lead: highest('leadCoverage'),
    score: top / 3,
    // Lead of the best passage over the tenth.
    spread: Math.min(1, top - (scored[9]?.score ?? 0)),
    unknownName: hasUnknownName ? 1 : 0,
    // Large docs always have a near match; small ones lack common words.
    size: Math.log10(Math.max(1, passages)) - 3,
  };
}

/** The confidence of an outside question is multiplied by `factor` if no top heading covers `minCoverage` of it. */
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
