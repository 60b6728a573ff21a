import type { Concepts } from './concepts.ts';
import { confidenceModel } from './confidence-model.ts';
import type { Query } from './query.ts';
import type { ScoredPassage } from './score.ts';

/** Query of a follow-up without the topic of earlier turns, and whether it asks for a name such as that of a variable. */
export type FollowUpQuery = Readonly<{ query: Query; isNamed: boolean }>;

/** Result of a search, before the decision whether to answer. */
export interface Findings {
  readonly concepts: Concepts;
  /** Passage that the previous turn quoted first, with the follow-up; `undefined` for a question of its own. */
  readonly repeated: (FollowUpQuery & { readonly id: number }) | undefined;
  /** Sorted by descending score. */
  readonly scored: readonly ScoredPassage[];
  readonly hasUnknownName: boolean;
  /** Whether the question is for something that documentation rarely names; see `Vocabulary`. */
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

/** Share of an outside question that the heading of its answer contains, and the factor of the confidence without one. */
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
