import type { FoundPassage } from '../index/passage-index.ts';
import { findCandidates } from './candidates.ts';
import type { PassageStore } from './passage-store.ts';
import { type ScoreContext, type ScoredPassage, scorePassages } from './score.ts';

/** The passages that are judged for a question: of small docs a share is enough. */
const judged = { most: 100, least: 40, share: 1 / 3 } as const;

/** Finds passages for what a question asks for, best first. */
export function retrieve(store: PassageStore, context: ScoreContext): readonly ScoredPassage[] {
  const wanted = Math.max(judged.least, Math.ceil(judged.share * store.span));
  const profiles = findCandidates(context.concepts, store, Math.min(judged.most, wanted))
    .map((id) => store.profile(id))
    .filter((profile) => profile !== undefined);
  return scorePassages(profiles, context);
}

/** How many of the best are considered for being told. */
const considered = 50;

/** Chooses the passages that are told, best first: a second one of a file only where it is much better than others. */
export function choosePassages(
  scored: readonly ScoredPassage[],
  { most, sameFile }: { readonly most: number; readonly sameFile: number },
): readonly ScoredPassage[] {
  const chosen: ScoredPassage[] = [];
  const near = scored.slice(0, considered);
  while (chosen.length < most) {
    const best = near
      .filter(({ passage }) => !chosen.some((one) => isSameSection(one.passage, passage)))
      .map((one) => ({ one, value: one.score - sameFile * countOfFile(chosen, one) }))
      .reduce<Valued | undefined>(
        (a, b) => (a === undefined || b.value > a.value ? b : a),
        undefined,
      );
    if (best === undefined) break;
    chosen.push(best.one);
  }
  return chosen;
}

interface Valued {
  readonly one: ScoredPassage;
  readonly value: number;
}

function countOfFile(chosen: readonly ScoredPassage[], { passage }: ScoredPassage): number {
  return chosen.filter((one) => one.passage.file === passage.file).length;
}

/** Parts of one long section are one place for a reader, and so is a text that stands in two files. */
function isSameSection(a: FoundPassage, b: FoundPassage): boolean {
  if (a.heading !== b.heading) return false;
  if (a.file !== b.file) return a.terms.body.length > 8 && sameTerms(a.terms.body, b.terms.body);
  return a.trail.join('\n') === b.trail.join('\n');
}

function sameTerms(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((term, at) => term === b[at]);
}
