import type { Concept } from './concepts.ts';
import { onlyLead, type Profile, useIn } from './passage-store.ts';
import { weights } from './weights.ts';

/** A concept that a term stands for, by its number, and how much the term counts for it. */
export type StandIn = Readonly<{ concept: number; factor: number }>;

export type Asked = ReturnType<typeof toAsked>;

/** Prepares the concepts of a question for comparing it with many passages. */
export function toAsked(concepts: readonly Concept[]) {
  const standsFor = new Map<string, StandIn[]>();
  concepts.forEach(({ terms }, concept) => {
    for (const [term, factor] of terms) {
      standsFor.set(term, [...(standsFor.get(term) ?? []), { concept, factor }]);
    }
  });
  return {
    concepts,
    weight: concepts.reduce((sum, { weight }) => sum + weight, 0),
    standsFor,
  };
}

/** Returns the share of a question that these terms meet, from 0 to 1; each concept counts for its best term. */
export function shareMet(met: readonly StandIn[], { concepts, weight: all }: Asked): number {
  const fits = new Float64Array(concepts.length);
  for (const { concept, factor } of met) fits[concept] = Math.max(fits[concept] ?? 0, factor);
  const sum = concepts.reduce((total, { weight }, at) => total + weight * (fits[at] ?? 0), 0);
  return all === 0 ? 0 : sum / all;
}

const noMeasures = { fit: 0, coverage: 0, headingCoverage: 0, titleCoverage: 0, leadCoverage: 0 };
const measures = Object.keys(noMeasures) as (keyof typeof noMeasures)[]; // its own keys

/** Measures how well a passage meets a question: `fit` is BM25F, `matched` the coverage of each concept. All are 0 to 1. */
export function meet(profile: Profile, { concepts, weight: all }: Asked, meanWords: number) {
  const { lengthLoss } = weights;
  const length = 1 - lengthLoss + (lengthLoss * profile.words) / Math.max(1, meanWords);
  const met = { ...noMeasures };
  const matched: number[] = [];
  for (const { terms, weight } of concepts) {
    const best = meetConcept(profile, terms, length);
    matched.push(best.coverage);
    for (const measure of measures) met[measure] += weight * best[measure];
  }
  const share = all === 0 ? 0 : 1 / all;
  for (const measure of measures) met[measure] *= share;
  return { ...met, matched };
}

function meetConcept({ uses }: Profile, terms: Concept['terms'], length: number) {
  const best = { ...noMeasures };
  for (const [term, factor] of terms) {
    const use = uses.get(term);
    if (use === undefined) continue;
    const inLead = useIn(use, 'lead');
    best.leadCoverage = Math.max(best.leadCoverage, inLead * factor);
    // Some terms are in the first words of the file, and not in this passage of it.
    if (use === inLead * onlyLead) continue;
    best.coverage = Math.max(best.coverage, factor);
    best.headingCoverage = Math.max(best.headingCoverage, useIn(use, 'heading') * factor);
    best.titleCoverage = Math.max(best.titleCoverage, useIn(use, 'title') * factor);
    best.fit = Math.max(best.fit, factor * saturate(use, length));
  }
  return best;
}

/** Mentions in all fields, weighted, then saturated. */
function saturate(use: number, length: number): number {
  const inText = useIn(use, 'body') * weights.inBody + useIn(use, 'code') * weights.inCode;
  const above =
    useIn(use, 'title') * weights.inTitle +
    useIn(use, 'trail') * weights.inTrail +
    useIn(use, 'heading') * weights.inHeading +
    Math.min(2, useIn(use, 'names')) * weights.inNames;
  const mentions = inText / length + above;
  return mentions / (weights.saturation + mentions);
}
