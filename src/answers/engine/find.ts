import type { Vocabulary } from '../text/vocabulary.ts';
import { maxCitations } from './compose.ts';
import { type Findings, toConfidence } from './confidence/confidence.ts';
import type { PassageStore } from './passage-store.ts';
import { toPlainWords } from './profile.ts';
import { toConcepts } from './question/concepts.ts';
import { toIntent } from './question/intent.ts';
import { hasUnknownName, type Lexicon } from './question/lexicon.ts';
import { toParts } from './question/question.ts';
import { choosePassages, retrieve } from './retrieve.ts';
import type { ScoredPassage } from './score.ts';

interface FindContext {
  readonly store: PassageStore;
  readonly lexicon: Lexicon;
  readonly vocabulary: Vocabulary;
  /** Paths whose passages count more, because the turn before was about them. */
  readonly recentPaths?: readonly string[];
}

/** A passage that is to be cited, with the question or part of one that it was found for. */
export interface FoundSource {
  readonly scored: ScoredPassage;
  readonly findings: Findings;
}

/** Passages for a question. */
export interface Found {
  /** The best passage for each part of the question. */
  readonly leading: readonly FoundSource[];
  readonly further: readonly FoundSource[];
  /** How likely it is that they answer, from 0 to 1. */
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
function findFurther(
  leading: readonly FoundSource[],
  all: readonly Findings[],
): readonly FoundSource[] {
  const rows = all.map((findings) =>
    choosePassages(findings.scored, maxCitations + 1).map((scored) => ({ scored, findings })),
  );
  const turns = Array.from({ length: maxCitations + 1 }, (_, rank) =>
    rows.flatMap((row) => row[rank] ?? []),
  ).flat();
  const taken: FoundSource[] = [...leading];
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

/** Whether sources have this passage, or one of the same file. */
function isAmong(
  sources: readonly FoundSource[],
  { passage }: ScoredPassage,
  key: 'id' | 'file',
): boolean {
  return sources.some(({ scored }) => scored.passage[key] === passage[key]);
}

/** Returns how much speaks for a source, from 0 to 1, as its citation says it. */
export function toCitedScore({ scored, findings }: FoundSource, confidence: number): number {
  const best = findings.scored[0]?.score ?? scored.score;
  return Number(Math.max(0, Math.min(1, (confidence * scored.score) / best)).toFixed(3));
}

/** What a passage gains if the turn before cited its file. */
const recentBonus = 0.4;

/** Finds passages for a text as one question. */
export function lookUp(text: string, context: FindContext): Findings {
  const { store, lexicon, recentPaths = [] } = context;
  const concepts = toConcepts(text, context);
  const said = toPlainWords(text);
  const { meanWords, passages } = lexicon;
  const scored = retrieve(store, { said, concepts, intent: toIntent(text), meanWords })
    .map((one) =>
      recentPaths.includes(one.passage.path) ? { ...one, score: one.score + recentBonus } : one,
    )
    .sort((a, b) => b.score - a.score);
  return { concepts, scored, passages, hasUnknownName: hasUnknownName(text, context) };
}
