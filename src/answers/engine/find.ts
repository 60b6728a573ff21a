import type { Citation } from '../answer.ts';
import type { FoundPassage } from '../index/passage-index.ts';
import { maxCitations } from './compose.ts';
import { type Concept, type Concepts, toConcepts, type WordContext } from './concepts.ts';
import {
  type Findings,
  isElsewhere,
  marginOf,
  toConfidence,
  toFirstConfidence,
} from './confidence.ts';
import { findDefinitions, toCodeQuestion } from './definitions.ts';
import { isCitedFirst, toFollowUpQuery, toRecentBonus } from './follow-up.ts';
import { hasUnknownName } from './lexicon.ts';
import type { PassageStore } from './passage-store.ts';
import { toParts } from './query.ts';
import { type ScoredPassage, scorePassages } from './score.ts';
import { weights } from './weights.ts';

interface FindContext extends WordContext {
  readonly store: PassageStore;
  /** Words from earlier questions that describe the subject of a follow-up question. */
  readonly topic?: string;
  /** Citations of the previous answer, best first. */
  readonly recent?: readonly Citation[];
}

export type FoundSource = Readonly<{ scored: ScoredPassage; findings: Findings }>;

/** Passages for a question: the best for each part (`leading`), and additional ones. */
export interface FoundSources {
  readonly leading: readonly FoundSource[];
  readonly further: readonly FoundSource[];
  readonly confidence: number;
  readonly isElsewhere: boolean;
}

/** Finds passages for a whole question, and for each of its parts that is a complete question. */
export function findSources(text: string, context: FindContext): FoundSources {
  const whole = searchPassages(text, context);
  const parts = toParts(text, context.vocabulary).map((part) => searchPassages(part, context));
  const leading: FoundSource[] = [];
  for (const findings of parts.length === 0 ? [whole] : parts) {
    const scored = findings.scored.find((one) => !includes(leading, one, 'id'));
    if (scored !== undefined) leading.push({ scored, findings });
  }
  if (parts.length === 0) leading.push(...findRival(whole));
  const further = findFurther(leading, [whole, ...parts]);
  const confidence = Math.max(toConfidence(whole), certaintyOf(whole));
  return { leading, further, confidence, isElsewhere: isElsewhere(whole) };
}

const certain = { least: 0.5, confidence: 0.9 } as const;

function certaintyOf({ scored: [best], code }: Findings): number {
  const { defines = 0, quoted = 0 } = best?.features ?? {};
  const isNamed = code.asksPlace && defines >= certain.least;
  return isNamed || quoted >= certain.least ? certain.confidence : 0;
}

const equalMargin = 0.05;

function findRival(findings: Findings): readonly FoundSource[] {
  if (marginOf(findings) >= equalMargin) return [];
  const [first] = findings.scored;
  const isRival = ({ passage }: ScoredPassage) =>
    first !== undefined &&
    passage.file !== first.passage.file &&
    !isSameSection(first.passage, passage);
  return findings.scored
    .filter(isRival)
    .slice(0, 1)
    .map((scored) => ({ scored, findings }));
}

function findFurther(leading: readonly FoundSource[], all: readonly Findings[]) {
  const rows = all.map((findings) =>
    choosePassages(findings.scored, maxCitations + 1).map((scored) => ({ scored, findings })),
  );
  const candidates = Array.from({ length: maxCitations + 1 }, (_, rank) =>
    rows.flatMap((row) => row[rank] ?? []),
  ).flat();
  const taken = [...leading];
  const takeNew = (key: 'id' | 'file') => {
    for (const source of candidates) {
      if (taken.length < maxCitations && !includes(taken, source.scored, key)) taken.push(source);
    }
  };
  // Passages of other files come first; more passages of the same file come last.
  if (all.length > 1) takeNew('file');
  takeNew('id');
  return taken.slice(leading.length);
}

function includes(
  sources: readonly FoundSource[],
  one: ScoredPassage,
  key: 'id' | 'file',
): boolean {
  return sources.some(({ scored }) => scored.passage[key] === one.passage[key]);
}

function choosePassages(scored: readonly ScoredPassage[], max: number): readonly ScoredPassage[] {
  const chosen: ScoredPassage[] = [];
  const near = scored.slice(0, 50);
  const penaltyOf = ({ file }: FoundPassage) =>
    weights.sameFile * chosen.filter(({ passage }) => passage.file === file).length;
  while (chosen.length < max) {
    const [best] = near
      .filter(({ passage }) => !chosen.some((one) => isSameSection(one.passage, passage)))
      .map((one) => ({ one, value: one.score - penaltyOf(one.passage) }))
      .sort((a, b) => b.value - a.value);
    if (best === undefined) break;
    chosen.push(best.one);
  }
  return chosen;
}

function isSameSection(a: FoundPassage, b: FoundPassage): boolean {
  if (a.heading !== b.heading) return false;
  if (a.file === b.file) return a.trail.join('\n') === b.trail.join('\n');
  return a.terms.body.length > 8 && a.terms.body.join(' ') === b.terms.body.join(' ');
}

/** Returns the likelihood (0 to 1) that the best source's file is right; less for others. */
export function toCitedScore({ scored, findings }: FoundSource, confidence: number): number {
  const best = findings.scored[0]?.score ?? scored.score;
  const likelihood = Math.min(confidence, toFirstConfidence(findings));
  return Number(Math.max(0, Math.min(1, (likelihood * scored.score) / best)).toFixed(3));
}

const topicWeight = 0.7;
const candidateLimits = { max: 100, min: 40, share: 1 / 3 } as const;

export function searchPassages(text: string, context: FindContext): Findings {
  const { store, lexicon, topic = '', recent = [] } = context;
  const { meanWords, passages } = lexicon;
  const own = toConcepts(text, context);
  const about = toConcepts(topic, context).concepts.filter(({ terms }) => terms.size > 0);
  const lighter = about.map((one) => ({ ...one, weight: topicWeight * one.weight }));
  const concepts = { ...own, concepts: [...own.concepts, ...lighter] };
  const wanted = Math.max(candidateLimits.min, Math.ceil(candidateLimits.share * store.span));
  const code = toCodeQuestion(text);
  const definitions = findDefinitions(code, store);
  const candidates = findCandidates(concepts, store, Math.min(candidateLimits.max, wanted));
  const profiles = [...new Set([...definitions.keys(), ...candidates])]
    .map((id) => store.profile(id))
    .filter((profile) => profile !== undefined);
  const followUp = toFollowUpQuery(text, own);
  const isShown = (passage: FoundPassage) => isCitedFirst(passage, recent);
  const bonusOf = (passage: FoundPassage) => toRecentBonus(passage, followUp, recent);
  const isOfDeveloper = context.vocabulary.isOfDeveloper(`${text} ${topic}`);
  const question = { text, concepts, meanWords, code, isOfDeveloper, definitions };
  const scored = scorePassages(profiles, question)
    .map((one) => ({ ...one, score: one.score + bonusOf(one.passage) }))
    .sort((a, b) => b.score - a.score);
  const id = scored.find(({ passage }) => isShown(passage))?.passage.id;
  const repeated = id === undefined ? undefined : { id, ...followUp };
  const doubts = {
    hasUnknownName: hasUnknownName(text, context),
    isOutside: context.vocabulary.isOutside(text),
  };
  return { concepts, code, repeated, scored, passages, ...doubts };
}

/** Weights of searches in headings and names (`above`) and for identifiers; full text has 1. */
const factors = { above: 0.6, name: 0.5 } as const;
const leastFactorAbove = 0.3;

/** Returns up to `max` ids, best first. Words in titles, headings and names weigh more. */
export function findCandidates({ concepts, names }: Concepts, store: PassageStore, max: number) {
  const tally = createTally(store.span);
  for (const { weight, terms } of concepts) {
    tally.add({ weight, terms }, store.anywhere);
    const specificTerms = [...terms].filter(([, factor]) => factor >= leastFactorAbove);
    tally.add({ weight: factors.above * weight, terms: new Map(specificTerms) }, store.above);
  }
  for (const [name, weight] of names) {
    tally.add({ weight: factors.name * weight, terms: new Map([[name, 1]]) }, store.anywhere);
  }
  return tally.best(max);
}

function createTally(span: number) {
  const sums = new Float64Array(span);
  // For each passage, the number of the last concept that was added.
  const counted = new Uint16Array(span);
  let concepts = 0;
  return {
    /** Adds `weight` times the highest factor of the terms that a passage contains to its score. */
    add: ({ terms, weight }: Concept, look: PassageStore['anywhere']) => {
      concepts += 1;
      for (const [term, factor] of [...terms].sort(([, a], [, b]) => b - a)) {
        for (const id of look(term)) {
          if (counted[id] === concepts) continue;
          counted[id] = concepts;
          sums[id] = (sums[id] ?? 0) + weight * factor;
        }
      }
    },
    best: (max: number): readonly number[] => {
      const found: number[] = [];
      for (let id = 0; id < span; id += 1) if (counted[id] !== 0) found.push(id);
      return found.sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0) || a - b).slice(0, max);
    },
  };
}
