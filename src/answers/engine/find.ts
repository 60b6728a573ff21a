import type { FoundPassage } from '../index/passage-index.ts';
import { maxCitations } from './compose.ts';
import { type Concept, type Concepts, toConcepts, type WordContext } from './concepts.ts';
import { type Findings, toConfidence } from './confidence.ts';
import { hasUnknownName } from './lexicon.ts';
import type { PassageStore } from './passage-store.ts';
import { toParts } from './question.ts';
import { type ScoredPassage, scorePassages } from './score.ts';
import { weights } from './weights.ts';

interface FindContext extends WordContext {
  readonly store: PassageStore;
  /** Paths whose passages count more, because the turn before was about them. */
  readonly recentPaths?: readonly string[];
}

/** A passage that is to be cited, with the question or part of one that it was found for. */
export type FoundSource = Readonly<{ scored: ScoredPassage; findings: Findings }>;

/** Passages for a question: the best one for each part of it, then further ones. */
export interface Found {
  readonly leading: readonly FoundSource[];
  readonly further: readonly FoundSource[];
  /** Likelihood that they answer, from 0 to 1. */
  readonly confidence: number;
}

/** Finds passages for the whole of a question, and for each part that could be asked on its own. */
export function find(text: string, context: FindContext): Found {
  const whole = lookUp(text, context);
  const parts = toParts(text, context.vocabulary).map((part) => lookUp(part, context));
  const leading: FoundSource[] = [];
  for (const findings of parts.length === 0 ? [whole] : parts) {
    const scored = findings.scored.find((one) => !isAmong(leading, one, 'id'));
    if (scored !== undefined) leading.push({ scored, findings });
  }
  const further = findFurther(leading, [whole, ...parts]);
  return { leading, further, confidence: toConfidence(whole) };
}

/** Takes further passages in turn: of the whole question, and of its parts. */
function findFurther(leading: readonly FoundSource[], all: readonly Findings[]) {
  const rows = all.map((findings) =>
    choosePassages(findings.scored, maxCitations + 1).map((scored) => ({ scored, findings })),
  );
  const turns = Array.from({ length: maxCitations + 1 }, (_, rank) =>
    rows.flatMap((row) => row[rank] ?? []),
  ).flat();
  const taken = [...leading];
  const takeUnlike = (key: 'id' | 'file') => {
    for (const source of turns) {
      if (taken.length < maxCitations && !isAmong(taken, source.scored, key)) taken.push(source);
    }
  };
  // Each part of a question has its own best file; what says more in one of them comes after.
  if (all.length > 1) takeUnlike('file');
  takeUnlike('id');
  return taken.slice(leading.length);
}

function isAmong(sources: readonly FoundSource[], one: ScoredPassage, key: 'id' | 'file'): boolean {
  return sources.some(({ scored }) => scored.passage[key] === one.passage[key]);
}

/** Chooses passages from the fifty best, best first: a second one of a file only if it is much better than others. */
function choosePassages(scored: readonly ScoredPassage[], most: number): readonly ScoredPassage[] {
  const chosen: ScoredPassage[] = [];
  const near = scored.slice(0, 50);
  const lossOf = ({ file }: FoundPassage) =>
    weights.sameFile * chosen.filter(({ passage }) => passage.file === file).length;
  while (chosen.length < most) {
    const [best] = near
      .filter(({ passage }) => !chosen.some((one) => isSameSection(one.passage, passage)))
      .map((one) => ({ one, value: one.score - lossOf(one.passage) }))
      .sort((a, b) => b.value - a.value);
    if (best === undefined) break;
    chosen.push(best.one);
  }
  return chosen;
}

/** Parts of one long section are one place for a reader, and so is a text that is in two files. */
function isSameSection(a: FoundPassage, b: FoundPassage): boolean {
  if (a.heading !== b.heading) return false;
  if (a.file === b.file) return a.trail.join('\n') === b.trail.join('\n');
  return a.terms.body.length > 8 && a.terms.body.join(' ') === b.terms.body.join(' ');
}

/** Returns how much speaks for a source, from 0 to 1, as its citation says it. */
export function toCitedScore({ scored, findings }: FoundSource, confidence: number): number {
  const best = findings.scored[0]?.score ?? scored.score;
  return Number(Math.max(0, Math.min(1, (confidence * scored.score) / best)).toFixed(3));
}

/** Score added to a passage whose file the turn before cited. */
const recentBonus = 0.4;
/** Number of passages that are scored for a question: of small docs a share is enough. */
const judged = { most: 100, least: 40, share: 1 / 3 } as const;

/** Finds and scores passages for a text as one question. */
export function lookUp(text: string, context: FindContext): Findings {
  const { store, lexicon, recentPaths = [] } = context;
  const { meanWords, passages } = lexicon;
  const concepts = toConcepts(text, context);
  const wanted = Math.max(judged.least, Math.ceil(judged.share * store.span));
  const profiles = findCandidates(concepts, store, Math.min(judged.most, wanted))
    .map((id) => store.profile(id))
    .filter((profile) => profile !== undefined);
  const bonusOf = ({ path }: FoundPassage) => (recentPaths.includes(path) ? recentBonus : 0);
  const scored = scorePassages(profiles, { text, concepts, meanWords })
    .map((one) => ({ ...one, score: one.score + bonusOf(one.passage) }))
    .sort((a, b) => b.score - a.score);
  return { concepts, scored, passages, hasUnknownName: hasUnknownName(text, context) };
}

/** Share of its weight that a concept in a title, a heading or a name counts for, and a name in one piece. */
const factors = { above: 0.6, name: 0.5 } as const;
/** A term that counts less for its concept is too vague for its place to matter. */
const leastFactorAbove = 0.3;

/**
 * Returns the ids of the passages that meet most of a question, at most `most`, best first: each concept
 * counts once, for the best of its terms, and once more if it is above the text.
 */
export function findCandidates({ concepts, names }: Concepts, store: PassageStore, most: number) {
  const tally = createTally(store.span);
  for (const { weight, terms } of concepts) {
    tally.add({ weight, terms }, store.anywhere);
    const telling = [...terms].filter(([, factor]) => factor >= leastFactorAbove);
    tally.add({ weight: factors.above * weight, terms: new Map(telling) }, store.above);
  }
  for (const [name, weight] of names) {
    tally.add({ weight: factors.name * weight, terms: new Map([[name, 1]]) }, store.anywhere);
  }
  return tally.best(most);
}

function createTally(span: number) {
  const sums = new Float64Array(span);
  // The concept that last counted for each passage.
  const counted = new Uint16Array(span);
  let concepts = 0;
  return {
    /** Adds a concept. Terms that count most come first, so the first one that a passage has counts. */
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
    best: (most: number): readonly number[] => {
      const found: number[] = [];
      for (let id = 0; id < span; id += 1) if (counted[id] !== 0) found.push(id);
      return found.sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0) || a - b).slice(0, most);
    },
  };
}
