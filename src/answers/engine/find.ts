import type { Vocabulary } from '../text/vocabulary.ts';
import { type Findings, toConfidence } from './confidence/confidence.ts';
import type { Weights } from './confidence/weights.ts';
import type { PassageStore } from './passage-store.ts';
import { toPlainWords } from './profile.ts';
import { toConcepts } from './question/concepts.ts';
import { toIntent } from './question/intent.ts';
import type { Lexicon } from './question/lexicon.ts';
import { toParts } from './question/question-parts.ts';
import { hasUnknownName } from './question/unknown-names.ts';
import { choosePassages, retrieve } from './retrieve.ts';
import type { ScoredPassage } from './score.ts';

/** What is looked in, and how. */
export interface FindContext {
  readonly store: PassageStore;
  readonly lexicon: Lexicon;
  readonly vocabulary: Vocabulary;
  readonly weights: Weights;
  /** Paths whose passages count more, because the turn before was about them. */
  readonly recentPaths?: readonly string[];
}

/** What was found for a question. */
export interface Found {
  /** The best passage for each part of the question. */
  readonly leading: readonly FoundSource[];
  readonly further: readonly FoundSource[];
  /** How likely it is that they answer, from 0 to 1. */
  readonly confidence: number;
}

/** A passage that is to be cited, with what it was found for. */
export interface FoundSource {
  readonly scored: ScoredPassage;
  readonly findings: Findings;
}

/** The most citations of an answer. */
export const maxCitations = 5;

/** Finds what answers a question: for the whole of it, and for each part that could be asked on its own. */
export function find(text: string, context: FindContext): Found {
  const whole = lookUp(text, context);
  const parts = toParts(text, context.vocabulary).map((part) => lookUp(part, context));
  const confidence = toConfidence(whole);
  const leading: FoundSource[] = [];
  for (const findings of parts.length === 0 ? [whole] : parts) {
    const source = findings.scored
      .map((scored) => ({ scored, findings }))
      .find((one) => !leading.some((other) => isSame(other, one)));
    if (source !== undefined) leading.push(source);
  }
  return { leading, further: findFurther(leading, [whole, ...parts], context), confidence };
}

/** Takes further passages in turn: of the whole question, and of its parts. */
function findFurther(
  leading: readonly FoundSource[],
  all: readonly Findings[],
  { weights }: FindContext,
): readonly FoundSource[] {
  const rows = all.map((findings) =>
    choosePassages(findings.scored, { most: maxCitations + 1, sameFile: weights.sameFile }).map(
      (scored) => ({ scored, findings }),
    ),
  );
  const taken: FoundSource[] = [...leading];
  const turns = Array.from({ length: maxCitations + 1 }, (_, rank) =>
    rows.flatMap((row) => row[rank] ?? []),
  ).flat();
  const take = (isWanted: (source: FoundSource) => boolean) => {
    for (const source of turns) {
      if (taken.length >= maxCitations || taken.some((other) => isSame(other, source))) continue;
      if (isWanted(source)) taken.push(source);
    }
  };
  // Each part of a question has its own best file; what says more in one of them comes after.
  if (all.length > 1) take((source) => !taken.some((other) => isOfSameFile(other, source)));
  take(() => true);
  return taken.slice(leading.length);
}

/** Gives how much speaks for a source, from 0 to 1, as a citation tells it. */
export function toCitedScore({ scored, findings }: FoundSource, confidence: number): number {
  const best = findings.scored[0]?.score ?? scored.score;
  return Number(Math.max(0, Math.min(1, (confidence * scored.score) / best)).toFixed(3));
}

function isSame(a: FoundSource, b: FoundSource): boolean {
  return a.scored.passage.id === b.scored.passage.id;
}

function isOfSameFile(a: FoundSource, b: FoundSource): boolean {
  return a.scored.passage.file === b.scored.passage.file;
}

/** Finds passages for a text as one question. */
export function lookUp(text: string, context: FindContext): Findings {
  const { store, lexicon, weights, recentPaths = [] } = context;
  const concepts = toConcepts(text, context);
  const said = toPlainWords(text);
  const scoring = { said, concepts, intent: toIntent(text), meanWords: lexicon.meanWords, weights };
  const scored = retrieve(store, scoring);
  const base = {
    concepts,
    passages: lexicon.passages,
    hasUnknownName: hasUnknownName(text, context),
  };
  if (recentPaths.length === 0) return { ...base, scored };
  const lifted = scored.map((one) =>
    recentPaths.includes(one.passage.path) ? { ...one, score: one.score + recentBonus } : one,
  );
  return { ...base, scored: lifted.toSorted((a, b) => b.score - a.score) };
}

/** What a passage gains whose file the turn before has cited. */
const recentBonus = 0.4;
