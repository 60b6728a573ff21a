import type { FoundPassage } from '../index/passage-index.ts';
import { signWeights } from './confidence/weights.ts';
import { type Profile, useIn } from './profile.ts';
import { type Asked, meet, type StandIn, shareMet, toAsked } from './question/asked.ts';
import type { Concepts } from './question/concepts.ts';
import { type Intent, suitsIntent } from './question/intent.ts';

// The keys are those of the table.
const weighedSigns = Object.keys(signWeights) as (keyof typeof signWeights)[];

/** The signs that speak for a passage, each from 0 to about 1. */
type Signs = Record<'fit' | keyof typeof signWeights, number>;

/** A passage with the signs that speak for it. */
export interface ScoredPassage {
  readonly passage: FoundPassage;
  readonly signs: Readonly<Signs>;
  readonly score: number;
}

/** What passages are scored by. */
export interface ScoreContext {
  /** The question, as `toPlainWords` returns it. */
  readonly said: string;
  readonly concepts: Concepts;
  readonly intent: Intent;
  readonly meanWords: number;
}

/** How many of the best are checked for how close together they have what was asked for. */
const lookedClosely = 40;

/** Scores passages, each on its own and then with the others of its file; best first. */
export function scorePassages(
  profiles: readonly Profile[],
  context: ScoreContext,
): readonly ScoredPassage[] {
  const asked = toAsked(context.concepts.concepts);
  const own = profiles.map((profile) => judgeAlone(profile, asked, context));
  judgeFiles(own);
  const near = own
    .map((one) => ({ one, score: addUp(one.signs) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, lookedClosely);
  for (const { one } of near) one.signs.proximity = proximityOf(one.passage.terms.body, asked);
  return own
    .map(({ passage, signs }) => ({ passage, signs, score: addUp(signs) }))
    .sort((a, b) => b.score - a.score || a.passage.id - b.passage.id);
}

function addUp(signs: Signs): number {
  return weighedSigns.reduce((sum, name) => sum + signs[name] * signWeights[name], signs.fit);
}

interface Judged {
  readonly passage: FoundPassage;
  /** Those that need the other passages are filled in later. */
  readonly signs: Signs;
  /** How well each concept is met, in their order. */
  readonly matched: readonly number[];
}

/** The number of words from which a passage is long enough to answer. */
const enoughWords = 25;

function judgeAlone(profile: Profile, asked: Asked, context: ScoreContext): Judged {
  const { passage } = profile;
  const { matched, ...met } = meet(profile, asked, context.meanWords);
  const signs = {
    ...met,
    headingFocus: focusOf(passage.terms.heading, asked),
    headingSaid: isSaidIn(context.said, profile.plainHeading) ? 1 : 0,
    proximity: 0,
    file: 0,
    fileCoverage: 0,
    names: shareOfNames(profile, context.concepts, asked),
    opening: passage.line <= 3 || passage.trail.length === 0 ? 1 : 0,
    intent: suitsIntent[context.intent](passage) ? 1 : 0,
    history: profile.isHistory ? 1 : 0,
    thin: Math.max(0, 1 - profile.words / enoughWords),
  };
  return { passage, signs, matched };
}

/** Whether the question has the heading word for word, small words too: “how do I *get a key*”. */
function isSaidIn(said: string, heading: string): boolean {
  // One word is too little: other signs count it.
  return heading.indexOf(' ', 1) < heading.length - 1 && said.includes(heading);
}

/** How much of a heading is what was asked for. */
function focusOf(heading: readonly string[], { standsFor }: Asked): number {
  if (heading.length === 0) return 0;
  let met = 0;
  for (const term of heading) {
    met += Math.max(0, ...(standsFor.get(term) ?? []).map(({ factor }) => factor));
  }
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

/** Adds how well the three best passages of each file fit, and how much of the question they meet together. */
function judgeFiles(passages: readonly Judged[]): void {
  const byFile = new Map<number, Judged[]>();
  for (const one of passages) {
    const own = byFile.get(one.passage.file) ?? [];
    own.push(one);
    byFile.set(one.passage.file, own);
  }
  for (const own of byFile.values()) {
    const ofFile = judgeFile(own);
    for (const { signs } of own) Object.assign(signs, ofFile);
  }
}

function judgeFile(own: readonly Judged[]) {
  const best = own.toSorted((a, b) => b.signs.fit - a.signs.fit).slice(0, 3);
  const fitOf = (rank: number) => best[rank]?.signs.fit ?? 0;
  const concepts = best[0]?.matched ?? [];
  const together = concepts.map((_, at) =>
    Math.max(...best.map(({ matched }) => matched[at] ?? 0)),
  );
  return {
    file: 0.5 * fitOf(0) + 0.3 * fitOf(1) + 0.2 * fitOf(2),
    fileCoverage: together.reduce((sum, one) => sum + one, 0) / Math.max(1, together.length),
  };
}

/** How many words apart the parts of a statement may be. */
const windowWords = 16;

/** Returns the greatest share of what is asked for that is close together in a text, from 0 to 1. */
export function proximityOf(text: readonly string[], asked: Asked): number {
  const mentions: (StandIn & { readonly at: number })[] = [];
  text.forEach((term, at) => {
    for (const standIn of asked.standsFor.get(term) ?? []) mentions.push({ ...standIn, at });
  });
  let best = 0;
  let from = 0;
  mentions.forEach(({ at }, to) => {
    while (at - (mentions[from]?.at ?? at) >= windowWords) from += 1;
    best = Math.max(best, shareMet(mentions.slice(from, to + 1), asked));
  });
  return best;
}
