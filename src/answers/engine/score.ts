import type { FoundPassage } from '../index/passage-index.ts';
import { fitOfIntent } from './confidence/priors.ts';
import type { Weights } from './confidence/weights.ts';
import { type Profile, useIn } from './profile.ts';
import { type Asked, meet, toAsked } from './question/asked.ts';
import type { Concepts } from './question/concepts.ts';
import type { Intent } from './question/intent.ts';

/** The signs that speak for a passage, each from 0 to about 1. */
export interface Signs {
  readonly fit: number;
  readonly coverage: number;
  readonly headingCoverage: number;
  readonly headingFocus: number;
  readonly headingSaid: number;
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
  /** The question, as `toPlainWords` gives it. */
  readonly said: string;
  readonly concepts: Concepts;
  readonly intent: Intent;
  readonly meanWords: number;
  readonly weights: Weights;
}

/** How many of the best are looked at for how close together they have what was asked for. */
const lookedClosely = 40;

/** Scores passages, each on its own and then with the others of its file; best first. */
export function scorePassages(
  profiles: readonly Profile[],
  context: ScoreContext,
): readonly ScoredPassage[] {
  const { weights, concepts } = context;
  const asked = toAsked(concepts.concepts);
  const own = profiles.map((profile) => judgeAlone(profile, asked, context));
  const files = judgeFiles(own);
  for (const one of own) Object.assign(one.signs, files.get(one.passage.file));
  const near = own
    .map((one) => ({ one, score: addUp(one.signs, weights) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, lookedClosely);
  for (const { one } of near) one.signs.proximity = proximityOf(one.passage.terms.body, asked);
  return own
    .map(({ passage, signs }) => ({ passage, signs, score: addUp(signs, weights) }))
    .sort((a, b) => b.score - a.score || a.passage.id - b.passage.id);
}

/** The signs that are added up, besides how well the words fit. */
const weighedSigns = [
  'coverage',
  'headingCoverage',
  'headingFocus',
  'headingSaid',
  'titleCoverage',
  'leadCoverage',
  'proximity',
  'names',
  'file',
  'fileCoverage',
  'opening',
  'intent',
  'history',
  'thin',
] as const satisfies readonly (keyof Signs & keyof Weights)[];

function addUp(signs: Signs, weights: Weights): number {
  let sum = signs.fit;
  for (const name of weighedSigns) sum += signs[name] * weights[name];
  return sum;
}

interface OwnSigns {
  readonly passage: FoundPassage;
  /** Those that need the other passages are filled in later. */
  readonly signs: { -readonly [Name in keyof Signs]: number };
  /** How well each concept is met, in their order. */
  readonly matched: readonly number[];
}

function judgeAlone(profile: Profile, asked: Asked, context: ScoreContext): OwnSigns {
  const { concepts, intent } = context;
  const { passage } = profile;
  const met = meet(profile, asked, context);
  const signs = {
    fit: met.fit,
    coverage: met.coverage,
    headingCoverage: met.heading,
    headingFocus: focusOf(passage.terms.heading, asked),
    headingSaid: isSaidIn(context.said, profile.plainHeading) ? 1 : 0,
    titleCoverage: met.title,
    leadCoverage: met.lead,
    proximity: 0,
    file: 0,
    fileCoverage: 0,
    names: shareOfNames(profile, concepts, asked),
    opening: passage.line <= 3 || passage.trail.length === 0 ? 1 : 0,
    intent: fitOfIntent(intent, passage),
    history: profile.isHistory ? 1 : 0,
    thin: Math.max(0, 1 - profile.words / enoughWords),
  };
  return { passage, signs, matched: met.matched };
}

/** Whether whoever asks says the heading word for word, small words too: “how do I *get a key*”. */
function isSaidIn(said: string, heading: string): boolean {
  // One word is too little: it is met by the other signs.
  return heading.indexOf(' ', 1) < heading.length - 1 && said.includes(heading);
}

/** The words from which a passage says enough to answer. */
const enoughWords = 25;

/** How much of a heading is what was asked for. */
function focusOf(heading: readonly string[], { factors }: Asked): number {
  if (heading.length === 0) return 0;
  let met = 0;
  for (const term of heading) met += factors.get(term) ?? 0;
  return met / (heading.length + 1);
}

function shareOfNames(profile: Profile, { names }: Concepts, { weight: all }: Asked): number {
  let met = 0;
  for (const [name, weight] of names) {
    const isThere = profile.headingName === name || useIn(profile.uses.get(name) ?? 0, 'names') > 0;
    if (isThere) met = Math.max(met, weight);
  }
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
  const best = own.toSorted((a, b) => b.signs.fit - a.signs.fit).slice(0, 3);
  const fitOf = (rank: number) => best[rank]?.signs.fit ?? 0;
  const file = 0.5 * fitOf(0) + 0.3 * fitOf(1) + 0.2 * fitOf(2);
  const together = best[0]?.matched.map((_, at) =>
    Math.max(...best.map(({ matched }) => matched[at] ?? 0)),
  );
  const met =
    together === undefined
      ? 0
      : together.reduce((sum, one) => sum + one, 0) / Math.max(1, together.length);
  return { file, fileCoverage: met };
}

/** The words that a statement may be apart. */
const windowWords = 16;

/** A place in a text where a word stands for a concept. */
interface Mention {
  readonly at: number;
  readonly concept: number;
  readonly factor: number;
}

/** Gives the greatest share of what is asked for that stands close together in a text, from 0 to 1. */
export function proximityOf(text: readonly string[], asked: Asked): number {
  const mentions = findMentions(text, asked);
  let best = 0;
  let from = 0;
  mentions.forEach(({ at }, to) => {
    while (at - (mentions[from]?.at ?? at) >= windowWords) from += 1;
    best = Math.max(best, shareBetween(mentions, asked, { from, to }));
  });
  return best;
}

function shareBetween(
  mentions: readonly Mention[],
  { concepts, weight }: Asked,
  { from, to }: { readonly from: number; readonly to: number },
): number {
  const fits = new Float64Array(concepts.length);
  for (let at = from; at <= to; at += 1) {
    const { concept = 0, factor = 0 } = mentions[at] ?? {};
    fits[concept] = Math.max(fits[concept] ?? 0, factor);
  }
  const met = concepts.reduce((sum, one, at) => sum + one.weight * (fits[at] ?? 0), 0);
  return weight === 0 ? 0 : met / weight;
}

function findMentions(text: readonly string[], { standsFor }: Asked): readonly Mention[] {
  const mentions: Mention[] = [];
  text.forEach((term, at) => {
    for (const { concept, factor } of standsFor.get(term) ?? []) {
      mentions.push({ at, concept, factor });
    }
  });
  return mentions;
}
