import type { Concepts } from './concepts.ts';
import { confidenceModel, firstModel } from './confidence-model.ts';
import type { CodeQuestion } from './definitions.ts';
import type { FollowUpQuery } from './follow-up.ts';
import type { ScoredPassage } from './score.ts';

/** Result of a search, from which `toConfidence` computes the confidence of an answer. */
export interface Findings {
  readonly concepts: Concepts;
  readonly code: CodeQuestion;
  /**
   * For a follow-up question: its query, and the id of the passage that the previous answer cited
   * first. `undefined` if the question is not a follow-up, or if the search for the question did
   * not find that passage.
   */
  readonly repeated: (FollowUpQuery & { readonly id: number }) | undefined;
  /** Passages found by the search, sorted by descending score. */
  readonly scored: readonly ScoredPassage[];
  readonly hasUnknownName: boolean;
  /**
   * Whether the question asks for something that documentation rarely contains, such as prices or
   * opinions.
   */
  readonly isOutside: boolean;
  readonly passages: number;
}

/**
 * Returns the input features of the confidence model. Most are between 0 and 1. `size` is negative
 * if the index has fewer than 1000 passages.
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
 * Reduction of the confidence for questions of kinds that documentation rarely answers, such as
 * prices or opinions: the confidence is multiplied by `factor`. Not applied if the heading of one
 * of the three best passages contains at least the share `minCoverage` (0 to 1) of the question's
 * words.
 */
const outside = { minCoverage: 0.8, factor: 0.4 } as const;

/** Returns the likelihood that the best passages answer the question, from 0 to 1. */
export function toConfidence(findings: Findings): number {
  const likelihood = evaluate(confidenceModel, toFeatures(findings));
  return isOutside(findings) ? outside.factor * likelihood : likelihood;
}

/**
 * Returns the input features of the model for the first citation, each from 0 to about 1. They
 * measure how far the best passage is ahead of other files.
 */
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

/**
 * Returns the difference (0 to 1) between the score of the best passage and that of the best one of
 * another file.
 */
export function marginOf({ scored }: Findings): number {
  const [first] = scored;
  const rival = scored.find(({ passage }) => passage.file !== first?.passage.file);
  return Math.min(1, (first?.score ?? 0) - (rival?.score ?? 0));
}

/**
 * Returns the likelihood that the best passage is in the right file, from 0 to 1, if the documents
 * have an answer.
 */
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

/**
 * Returns whether a question is about something else than the documents, so that no section is
 * worth quoting.
 */
export function isElsewhere(findings: Findings): boolean {
  return isOutside(findings) || toFeatures(findings).coverage < maxForeignCoverage;
}
