import type { FoundPassage } from '../index/passage-index.ts';
import { weights } from './confidence/weights.ts';
import type { PassageStore } from './passage-store.ts';
import type { Concept, Concepts } from './question/concepts.ts';
import { type ScoreContext, type ScoredPassage, scorePassages } from './score.ts';

/** How many passages are scored for a question: of small docs a share is enough. */
const judged = { most: 100, least: 40, share: 1 / 3 } as const;

/** Finds passages for what a question asks for, best first. */
export function retrieve(store: PassageStore, context: ScoreContext): readonly ScoredPassage[] {
  const wanted = Math.max(judged.least, Math.ceil(judged.share * store.span));
  const profiles = findCandidates(context.concepts, store, Math.min(judged.most, wanted))
    .map((id) => store.profile(id))
    .filter((profile) => profile !== undefined);
  return scorePassages(profiles, context);
}

/** What a concept counts besides its weight if it is in a title, a heading or a name. */
const aboveFactor = 0.6;

/** What a name in one piece counts. */
const nameFactor = 0.5;

/** Below this a term is too vague for its place to matter. */
const leastFactorAbove = 0.3;

/**
 * Returns the ids of the passages that meet most of a question, at most `most`, best first: each concept
 * counts once, for the best of its terms, and once more if it is above the text.
 */
export function findCandidates(
  { concepts, names }: Concepts,
  store: PassageStore,
  most: number,
): readonly number[] {
  const tally = createTally(store.span);
  for (const concept of concepts) {
    tally.add(concept, store.anywhere);
    tally.add(liftAbove(concept), store.above);
  }
  for (const [name, weight] of names) {
    tally.add({ weight: nameFactor * weight, terms: new Map([[name, 1]]) }, store.anywhere);
  }
  return tally.best(most);
}

function liftAbove(concept: Concept): Concept {
  const telling = [...concept.terms].filter(([, factor]) => factor >= leastFactorAbove);
  return { ...concept, weight: aboveFactor * concept.weight, terms: new Map(telling) };
}

/** Adds up what speaks for each passage, by its id. */
function createTally(span: number) {
  const sums = new Float64Array(span);
  // The concept that last counted for each passage.
  const counted = new Uint16Array(span);
  let concepts = 0;
  return {
    /** The terms that count most come first, so the first one that a passage has is the one that counts. */
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

/** How many of the best passages can be chosen for an answer. */
const considered = 50;

/** Chooses passages for an answer, best first: a second one of a file only if it is much better than others. */
export function choosePassages(
  scored: readonly ScoredPassage[],
  most: number,
): readonly ScoredPassage[] {
  const chosen: ScoredPassage[] = [];
  const near = scored.slice(0, considered);
  while (chosen.length < most) {
    const [best] = near
      .filter(({ passage }) => !chosen.some((one) => isSameSection(one.passage, passage)))
      .map((one) => ({ one, value: one.score - weights.sameFile * countOfFile(chosen, one) }))
      .sort((a, b) => b.value - a.value);
    if (best === undefined) break;
    chosen.push(best.one);
  }
  return chosen;
}

function countOfFile(chosen: readonly ScoredPassage[], { passage }: ScoredPassage): number {
  return chosen.filter((one) => one.passage.file === passage.file).length;
}

/** Parts of one long section are one place for a reader, and so is a text that is in two files. */
function isSameSection(a: FoundPassage, b: FoundPassage): boolean {
  if (a.heading !== b.heading) return false;
  if (a.file === b.file) return a.trail.join('\n') === b.trail.join('\n');
  return a.terms.body.length > 8 && a.terms.body.join(' ') === b.terms.body.join(' ');
}
