import type { PassageStore, Postings } from './passage-store.ts';
import type { Concept, Concepts } from './question/concepts.ts';

/** What a concept counts for besides its weight where it stands in a title, a heading or a name. */
const aboveFactor = 0.6;

/** What a name in one piece counts for. */
const nameFactor = 0.5;

/** Below this a term is too vague for its place to matter. */
const leastFactorAbove = 0.3;

/**
 * Gives the ids of the passages that meet most of a question, at most so many, best first: each concept
 * counts once, for the best of its terms, and once more where it stands above the text.
 */
export function findCandidates(
  { concepts, names }: Concepts,
  store: PassageStore,
  most: number,
): readonly number[] {
  const tally = createTally(store.span);
  for (const concept of concepts) {
    tally.add(concept, (term) => store.anywhere(term));
    tally.add(liftAbove(concept), (term) => store.above(term));
  }
  for (const [name, weight] of names) {
    const terms = new Map([[name, 1]]);
    tally.add({ plain: name, weight: nameFactor * weight, terms }, (term) => store.anywhere(term));
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
    add: ({ terms, weight }: Concept, look: (term: string) => Postings) => {
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
