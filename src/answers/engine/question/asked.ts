import type { Weights } from '../confidence/weights.ts';
import { onlyLead, type Profile, useIn } from '../profile.ts';
import type { Concept } from './concepts.ts';

/** What a question asks for, made ready to be looked for in many passages. */
export interface Asked {
  /** The terms of each concept with what each counts for, and how much the concept matters. */
  readonly concepts: readonly {
    readonly terms: readonly (readonly [string, number])[];
    readonly weight: number;
  }[];
  /** How much all concepts matter together. */
  readonly weight: number;
  /** What each term counts for at best. */
  readonly factors: ReadonlyMap<string, number>;
  /** The concepts that each term stands for, by their number. */
  readonly standsFor: ReadonlyMap<string, readonly StandIn[]>;
}

/** A concept that a term stands for. */
export interface StandIn {
  readonly concept: number;
  readonly factor: number;
}

/** Makes what a question asks for ready. */
export function toAsked(concepts: readonly Concept[]): Asked {
  const factors = new Map<string, number>();
  const standsFor = new Map<string, StandIn[]>();
  concepts.forEach(({ terms }, concept) => {
    for (const [term, factor] of terms) {
      factors.set(term, Math.max(factors.get(term) ?? 0, factor));
      const own = standsFor.get(term) ?? [];
      own.push({ concept, factor });
      standsFor.set(term, own);
    }
  });
  return {
    concepts: concepts.map(({ terms, weight }) => ({ terms: [...terms], weight })),
    weight: concepts.reduce((sum, { weight }) => sum + weight, 0),
    factors,
    standsFor,
  };
}

/** What a passage meets of a question; all from 0 to 1, where rare words count more. */
export interface Met {
  /** BM25F over the fields. */
  readonly fit: number;
  readonly coverage: number;
  readonly heading: number;
  readonly title: number;
  /** What the first words of the file meet. */
  readonly lead: number;
  /** How well each concept is met, in their order. */
  readonly matched: readonly number[];
}

/** Looks for what a question asks for in a passage. */
export function meet(profile: Profile, { concepts, weight: all }: Asked, by: MeetContext): Met {
  const length = lengthFactor(profile, by);
  const sum = { fit: 0, coverage: 0, heading: 0, title: 0, lead: 0 };
  const matched: number[] = [];
  for (const { terms, weight } of concepts) {
    const best = meetConcept(profile, terms, { length, weights: by.weights });
    matched.push(best.coverage);
    sum.fit += weight * best.fit;
    sum.coverage += weight * best.coverage;
    sum.heading += weight * best.heading;
    sum.title += weight * best.title;
    sum.lead += weight * best.lead;
  }
  const share = all === 0 ? 0 : 1 / all;
  return {
    fit: share * sum.fit,
    coverage: share * sum.coverage,
    heading: share * sum.heading,
    title: share * sum.title,
    lead: share * sum.lead,
    matched,
  };
}

/** What passages are judged by besides the question. */
export interface MeetContext {
  readonly meanWords: number;
  readonly weights: Weights;
}

function lengthFactor({ words }: Profile, { weights, meanWords }: MeetContext): number {
  return 1 - weights.lengthLoss + (weights.lengthLoss * words) / Math.max(1, meanWords);
}

/** The best that any term of a concept does in each place. */
function meetConcept(
  { uses }: Profile,
  terms: readonly (readonly [string, number])[],
  by: { readonly length: number; readonly weights: Weights },
) {
  const best = { fit: 0, coverage: 0, heading: 0, title: 0, lead: 0 };
  for (const [term, factor] of terms) {
    const use = uses.get(term);
    if (use === undefined) continue;
    const inLead = useIn(use, 'lead');
    best.lead = Math.max(best.lead, inLead * factor);
    // Some terms are in the first words of the file, and not in this passage of it.
    if (use === inLead * onlyLead) continue;
    best.coverage = Math.max(best.coverage, factor);
    best.heading = Math.max(best.heading, useIn(use, 'heading') * factor);
    best.title = Math.max(best.title, useIn(use, 'title') * factor);
    best.fit = Math.max(best.fit, factor * saturate(use, by));
  }
  return best;
}

/** Mentions in all fields, weighted, then saturated. */
function saturate(
  use: number,
  { length, weights }: { readonly length: number; readonly weights: Weights },
): number {
  const inText = useIn(use, 'body') * weights.inBody + useIn(use, 'code') * weights.inCode;
  const above =
    useIn(use, 'title') * weights.inTitle +
    useIn(use, 'trail') * weights.inTrail +
    useIn(use, 'heading') * weights.inHeading +
    Math.min(2, useIn(use, 'names')) * weights.inNames;
  const mentions = inText / length + above;
  return mentions / (weights.saturation + mentions);
}
