import type { Concepts } from './concepts.ts';
import { confidenceModel, firstModel } from './confidence-model.ts';
import type { CodeQuestion } from './definitions.ts';
import type { FollowUpQuery } from './follow-up.ts';
import type { ScoredPassage } from './score.ts';

/** Result of a search, from which `toConfidence` computes the confidence of an answer. */
export interface Findings {
  readonly concepts: Concepts;
  readonly code: CodeQuestion;
  /** Query of a follow-up question and `id` of the passage cited before, if it was found again. */
  readonly repeated: (FollowUpQuery & { readonly id: number }) | undefined;
  /** Passages found by the search, sorted by descending score. */
  readonly scored: readonly ScoredPassage[];
  readonly hasUnknownName: boolean;
  /** Whether the question asks for something rare in documentation, such as prices or opinions. */
  readonly isOutside: boolean;
  readonly passages: number;
}

/** Returns the inputs of the confidence model. `size` is negative below 1000 passages. */
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

/** Reduction if `isOutside`, unless one of the top 3 headings has `minCoverage` of the words. */
const outside = { minCoverage: 0.8, factor: 0.4 } as const;

/** Returns the likelihood that the best passages answer the question, from 0 to 1. */
export function toConfidence(findings: Findings): number {
  const likelihood = evaluate(confidenceModel, toFeatures(findings));
  return isOutside(findings) ? outside.factor * likelihood : likelihood;
}

/** Returns features (0 to about 1) of how far the best passage is ahead of other files. */
export function toFirstFeatures(findings: Findings) {
  const { scored } = findings;
  const { lead, spread, size } = toFeatures(findings);
  const file = scored[0]?.passage.file;
  return {
    margin: marginOf(findings),
    share: scored.slice(0, 5).filter(({ passage }) => passage.file === file).length / 5,
    spread,
    size,
    lead,
  };
}

/** Returns the lead (0 to 1) of the best passage over the best one of another file. */
export function marginOf({ scored }: Findings): number {
  const [first] = scored;
  const rival = scored.find(({ passage }) => passage.file !== first?.passage.file);
  return Math.min(1, (first?.score ?? 0) - (rival?.score ?? 0));
}

/** Returns the likelihood (0 to 1) that the best passage is in the right file, if any is. */
export function toFirstConfidence(findings: Findings): number {
  return evaluate(firstModel, toFirstFeatures(findings));
}

function evaluate(
  { bias, factors }: Readonly<{ bias: number; factors: readonly number[] }>,
  features: Readonly<Record<string, number>>,
): number {
  const values = Object.values(features);
  const sum = values.reduce((all, value, at) => all + value * (factors[at] ?? 0), bias);
  return 1 / (1 + Math.exp(-sum));
}

function isOutside({ isOutside: hasSign, scored }: Findings): boolean {
  return hasSign && !scored.slice(0, 3).some(isNamed);
}

const isNamed = ({ features: { headingCoverage } }: ScoredPassage) =>
  headingCoverage >= outside.minCoverage;

const maxForeignCoverage = 0.2;

/** Returns whether the question is about something else, so that no section is worth quoting. */
export function isElsewhere(findings: Findings): boolean {
  return isOutside(findings) || toFeatures(findings).coverage < maxForeignCoverage;
}
