import type { FoundPassage, PassageIndex } from '../index/passage-index.ts';
import type { Concepts } from './concepts.ts';
import { type ScoreContext, type ScoredPassage, scorePassages } from './score.ts';

/** The passages that each look at the index brings. */
const looks = { exact: 70, wide: 50 } as const;

/**
 * Finds passages for what a question asks for, best first: those with its own words and names, and
 * those with words that may stand for them, judged together.
 */
export function retrieve(index: PassageIndex, context: ScoreContext): readonly ScoredPassage[] {
  const found = new Map<number, FoundPassage>();
  const { exact, wide } = termsOf(context.concepts);
  const passages = [
    ...index.search(exact, looks.exact),
    ...(wide.length === exact.length ? [] : index.search(wide, looks.wide)),
  ];
  for (const passage of passages) found.set(passage.id, passage);
  return scorePassages([...found.values()], context);
}

function termsOf({ concepts, names }: Concepts) {
  const terms = concepts.flatMap((concept) => [...concept.terms]);
  const exact = terms.filter(([, factor]) => factor > 0.5).map(([term]) => term);
  const wide = terms.map(([term]) => term);
  return {
    exact: [...new Set([...exact, ...names.keys()])],
    wide: [...new Set([...wide, ...names.keys()])],
  };
}

/** Chooses the passages that are told, best first: a second one of a file only where it is much better than others. */
export function choosePassages(
  scored: readonly ScoredPassage[],
  { most, sameFile }: { readonly most: number; readonly sameFile: number },
): readonly ScoredPassage[] {
  const chosen: ScoredPassage[] = [];
  while (chosen.length < most) {
    const best = scored
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
