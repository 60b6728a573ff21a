import type { Concept, Concepts } from './concepts.ts';
import { confidenceModel } from './confidence-model.ts';
import type { ScoredPassage } from './score.ts';

/** What is known of how well a question was met, before it is decided whether to answer. */
export interface Findings {
  readonly concepts: Concepts;
  /** Best first. */
  readonly scored: readonly ScoredPassage[];
}

/** The signs that confidence is made of, in the order of the model's factors. */
export const confidenceSigns = [
  'fit',
  'coverage',
  'proximity',
  'heading',
  'file',
  'unknown',
  'rarestMet',
  'exact',
  'spread',
  'score',
] as const;

/** The best passages that are looked at for what they meet together. */
const looked = 3;

/** Gives the signs of how well a question was met, each from about 0 to 1. */
export function toSigns({ concepts, scored }: Findings): readonly number[] {
  const best = scored.slice(0, looked);
  const top = best[0];
  if (top === undefined) return confidenceSigns.map((name) => (name === 'unknown' ? 1 : 0));
  const most = (of: (one: ScoredPassage) => number) => Math.max(...best.map(of));
  const signs: Readonly<Record<(typeof confidenceSigns)[number], number>> = {
    fit: most(({ signs }) => signs.fit),
    coverage: most(({ signs }) => signs.coverage),
    proximity: most(({ signs }) => signs.proximity),
    heading: most(({ signs }) => Math.max(signs.headingCoverage, signs.titleCoverage)),
    file: most(({ signs }) => signs.leadCoverage),
    unknown: unknownShare(concepts.concepts),
    rarestMet: rarestMet(concepts.concepts, best),
    exact: most((one) => exactShare(concepts.concepts, one)),
    spread: Math.min(1, top.score - (scored[9]?.score ?? 0)),
    score: top.score / 3,
  };
  return confidenceSigns.map((name) => signs[name]);
}

/** Gives how likely it is that the best passages answer the question, from 0 to 1. */
export function toConfidence(findings: Findings): number {
  const { bias, factors } = confidenceModel;
  const sum = toSigns(findings).reduce((all, sign, at) => all + sign * (factors[at] ?? 0), bias);
  return 1 / (1 + Math.exp(-sum));
}

/** True where the index does not answer a question, as far as the signs tell. */
export function isDeclined(confidence: number): boolean {
  return confidence < confidenceModel.threshold;
}

/** How much of the question is in words that nobody wrote, not even misspelt. */
function unknownShare(concepts: readonly Concept[]): number {
  const all = concepts.reduce((sum, { weight }) => sum + weight, 0);
  const unknown = concepts.reduce((sum, { weight, known }) => sum + weight * (1 - known), 0);
  return all === 0 ? 1 : unknown / all;
}

/** Whether one of the best passages has the rarest word of the question itself. */
function rarestMet(concepts: readonly Concept[], best: readonly ScoredPassage[]): number {
  const rarest = concepts.toSorted((a, b) => b.weight - a.weight).slice(0, 2);
  const met = rarest.map((concept) => Math.max(...best.map((one) => factorIn(concept, one))));
  return met.length === 0 ? 0 : met.reduce((sum, one) => sum + one, 0) / met.length;
}

function exactShare(concepts: readonly Concept[], one: ScoredPassage): number {
  const all = concepts.reduce((sum, { weight }) => sum + weight, 0);
  const met = concepts.reduce(
    (sum, concept) => sum + (factorIn(concept, one) > 0.5 ? concept.weight : 0),
    0,
  );
  return all === 0 ? 0 : met / all;
}

function factorIn({ terms }: Concept, { passage }: ScoredPassage): number {
  let best = 0;
  for (const found of Object.values(passage.terms)) {
    for (const term of found) best = Math.max(best, terms.get(term) ?? 0);
  }
  return best;
}
