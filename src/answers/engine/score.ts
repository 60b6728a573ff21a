import type { FoundPassage } from '../index/passage-index.ts';
import type { Field } from '../index/schema.ts';
import type { Concept, Concepts } from './concepts.ts';
import type { Intent } from './intent.ts';
import { fitOfIntent, isHistory } from './priors.ts';
import type { Weights } from './weights.ts';

/** The signs that speak for a passage, each from 0 to about 1. */
export interface Signs {
  readonly fit: number;
  readonly coverage: number;
  readonly headingCoverage: number;
  readonly headingFocus: number;
  readonly titleCoverage: number;
  readonly leadCoverage: number;
  readonly proximity: number;
  readonly names: number;
  readonly file: number;
  readonly fileCoverage: number;
  readonly opening: number;
  readonly intent: number;
  readonly history: number;
  readonly thin: number;
}

/** A passage with what speaks for it. */
export interface ScoredPassage {
  readonly passage: FoundPassage;
  readonly signs: Signs;
  readonly score: number;
}

/** What passages are scored by. */
export interface ScoreContext {
  readonly concepts: Concepts;
  readonly intent: Intent;
  readonly meanWords: number;
  readonly weights: Weights;
}

/** Scores passages, each on its own and then with the others of its file; best first. */
export function scorePassages(
  passages: readonly FoundPassage[],
  context: ScoreContext,
): readonly ScoredPassage[] {
  const own = passages.map((passage) => judgeAlone(passage, context));
  const files = judgeFiles(own);
  return own
    .map(({ passage, matched: _, ...signs }) => {
      const whole: Signs = {
        ...signs,
        ...(files.get(passage.file) ?? noFile),
      };
      return { passage, signs: whole, score: addUp(whole, context.weights) };
    })
    .sort((a, b) => b.score - a.score || a.passage.id - b.passage.id);
}

const noFile = { file: 0, fileCoverage: 0 };

function addUp(signs: Signs, weights: Weights): number {
  const { fit, ...others } = signs;
  let sum = fit;
  for (const [name, value] of Object.entries(others))
    sum += value * weights[name as keyof typeof others];
  return sum;
}

type OwnSigns = Omit<Signs, 'file' | 'fileCoverage'> & {
  readonly passage: FoundPassage;
  /** How well each concept is met, in their order. */
  readonly matched: readonly number[];
};

function judgeAlone(passage: FoundPassage, context: ScoreContext): OwnSigns {
  const { concepts, intent } = context;
  const counts = countTerms(passage, concepts.concepts);
  const matched = concepts.concepts.map((concept) => bestFactor(concept, counts));
  const share = (fits: readonly number[]) => weightedShare(concepts.concepts, fits);
  const inField = (field: Field) =>
    concepts.concepts.map((concept) => bestFactorIn(concept, counts, field));
  const proximity = proximityOf(passage, concepts.concepts);
  return {
    passage,
    matched,
    fit: share(concepts.concepts.map((concept) => fitOf(concept, { counts, passage, context }))),
    coverage: share(matched),
    headingCoverage: share(inField('heading')),
    headingFocus: focusOf(passage.terms.heading, concepts.concepts),
    titleCoverage: share(inField('title')),
    leadCoverage: share(concepts.concepts.map((concept) => bestIn(concept, passage.lead))),
    proximity,
    names: shareOfNames(passage, concepts),
    opening: passage.line <= 3 || passage.trail.length === 0 ? 1 : 0,
    intent: fitOfIntent(intent, passage),
    history: isHistory(passage) ? 1 : 0,
    thin: thinness(passage),
  };
}

/** The words from which a passage says enough to answer. */
const enoughWords = 25;

/** How little stands under a heading, from 0 to 1. */
function thinness({ terms }: FoundPassage): number {
  return Math.max(0, 1 - (terms.body.length + terms.code.length) / enoughWords);
}

/** How often each term of a question is in each field. */
type Counts = ReadonlyMap<string, Readonly<Partial<Record<Field, number>>>>;

function countTerms(passage: FoundPassage, concepts: readonly Concept[]): Counts {
  const wanted = new Set(concepts.flatMap(({ terms }) => [...terms.keys()]));
  const counts = new Map<string, Partial<Record<Field, number>>>();
  for (const [field, terms] of Object.entries(passage.terms) as [Field, readonly string[]][]) {
    for (const term of terms) {
      if (!wanted.has(term)) continue;
      const own = counts.get(term) ?? {};
      own[field] = (own[field] ?? 0) + 1;
      counts.set(term, own);
    }
  }
  return counts;
}

function bestFactor({ terms }: Concept, counts: Counts): number {
  let best = 0;
  for (const [term, factor] of terms) if (counts.has(term)) best = Math.max(best, factor);
  return best;
}

function bestIn({ terms }: Concept, found: readonly string[]): number {
  return Math.max(0, ...found.map((term) => terms.get(term) ?? 0));
}

function bestFactorIn({ terms }: Concept, counts: Counts, field: Field): number {
  let best = 0;
  for (const [term, factor] of terms) {
    if (counts.get(term)?.[field] !== undefined) best = Math.max(best, factor);
  }
  return best;
}

/** BM25F of one concept, from 0 to 1: mentions in all fields, weighted, then saturated. */
function fitOf(
  { terms }: Concept,
  { counts, passage, context }: { counts: Counts; passage: FoundPassage; context: ScoreContext },
): number {
  const { weights, meanWords } = context;
  const words = passage.terms.body.length + passage.terms.code.length;
  const length = 1 - weights.lengthLoss + (weights.lengthLoss * words) / Math.max(1, meanWords);
  let best = 0;
  for (const [term, factor] of terms) {
    const found = counts.get(term);
    if (found === undefined) continue;
    const inText = (found.body ?? 0) * weights.inBody + (found.code ?? 0) * weights.inCode;
    const above =
      Math.min(1, found.title ?? 0) * weights.inTitle +
      Math.min(1, found.trail ?? 0) * weights.inTrail +
      Math.min(1, found.heading ?? 0) * weights.inHeading +
      Math.min(2, found.names ?? 0) * weights.inNames;
    const mentions = inText / length + above;
    best = Math.max(best, (factor * mentions) / (weights.saturation + mentions));
  }
  return best;
}

/** The mean of what concepts are met by, each as much as it matters. */
function weightedShare(concepts: readonly Concept[], fits: readonly number[]): number {
  let met = 0;
  let all = 0;
  concepts.forEach(({ weight }, at) => {
    met += weight * (fits[at] ?? 0);
    all += weight;
  });
  return all === 0 ? 0 : met / all;
}

/** How much of a heading is what was asked for. */
function focusOf(heading: readonly string[], concepts: readonly Concept[]): number {
  if (heading.length === 0) return 0;
  const met = heading.map((term) =>
    Math.max(0, ...concepts.map(({ terms }) => terms.get(term) ?? 0)),
  );
  return met.reduce((sum, one) => sum + one, 0) / (heading.length + 1);
}

/** The words that a statement may be apart. */
const windowWords = 16;

/** A place in a text where a word stands for a concept. */
interface Mention {
  readonly at: number;
  readonly concept: number;
  readonly factor: number;
}

/** The greatest share of the concepts that stands close together in the text. */
function proximityOf(passage: FoundPassage, concepts: readonly Concept[]): number {
  const mentions = findMentions(passage, concepts);
  let best = 0;
  let from = 0;
  mentions.forEach(({ at }, to) => {
    while (at - (mentions[from]?.at ?? at) >= windowWords) from += 1;
    const fits = concepts.map(() => 0);
    for (const { concept, factor } of mentions.slice(from, to + 1)) {
      fits[concept] = Math.max(fits[concept] ?? 0, factor);
    }
    best = Math.max(best, weightedShare(concepts, fits));
  });
  return best;
}

function findMentions(passage: FoundPassage, concepts: readonly Concept[]): readonly Mention[] {
  const standsFor = new Map<string, Omit<Mention, 'at'>[]>();
  concepts.forEach(({ terms }, concept) => {
    for (const [term, factor] of terms) {
      standsFor.set(term, [...(standsFor.get(term) ?? []), { concept, factor }]);
    }
  });
  return passage.terms.body.flatMap((term, at) =>
    (standsFor.get(term) ?? []).map((mention) => ({ at, ...mention })),
  );
}

function shareOfNames(passage: FoundPassage, { names, concepts }: Concepts): number {
  if (names.size === 0) return 0;
  const inHeading = new Set(
    passage.terms.heading.join('').length < 60 ? [passage.terms.heading.join('')] : [],
  );
  const present = new Set(passage.terms.names);
  let met = 0;
  for (const [name, weight] of names) {
    if (present.has(name) || inHeading.has(name)) met = Math.max(met, weight);
  }
  const all = concepts.reduce((sum, { weight }) => sum + weight, 0);
  return all === 0 ? 0 : Math.min(1, (2 * met) / all);
}

interface FileSigns {
  readonly file: number;
  readonly fileCoverage: number;
}

/** How well the three best passages of each file fit, and how much of the question they meet together. */
function judgeFiles(passages: readonly OwnSigns[]): ReadonlyMap<number, FileSigns> {
  const byFile = new Map<number, OwnSigns[]>();
  for (const one of passages) {
    const own = byFile.get(one.passage.file) ?? [];
    own.push(one);
    byFile.set(one.passage.file, own);
  }
  return new Map([...byFile].map(([file, own]) => [file, judgeFile(own)]));
}

function judgeFile(own: readonly OwnSigns[]): FileSigns {
  const best = own.toSorted((a, b) => b.fit - a.fit).slice(0, 3);
  const file = (best[0]?.fit ?? 0) * 0.5 + (best[1]?.fit ?? 0) * 0.3 + (best[2]?.fit ?? 0) * 0.2;
  const together = best[0]?.matched.map((_, at) =>
    Math.max(...best.map(({ matched }) => matched[at] ?? 0)),
  );
  const met =
    together === undefined
      ? 0
      : together.reduce((sum, one) => sum + one, 0) / Math.max(1, together.length);
  return { file, fileCoverage: met };
}
