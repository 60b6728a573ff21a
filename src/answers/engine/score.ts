import type { FoundPassage } from '../index/passage-index.ts';
import { type Asked, meet, type StandIn, shareMet, toAsked } from './asked.ts';
import type { Concepts } from './concepts.ts';
import { type Profile, toPlainWords, useIn } from './passage-store.ts';
import { signWeights } from './weights.ts';

// The keys are those of the table.
const weighedSigns = Object.keys(signWeights) as (keyof typeof signWeights)[];

/** Signs that speak for a passage, each from 0 to about 1. */
type Signs = Record<'fit' | keyof typeof signWeights, number>;

/** A passage with the signs that speak for it. */
export interface ScoredPassage {
  readonly passage: FoundPassage;
  readonly signs: Readonly<Signs>;
  readonly score: number;
}

/** The question that passages are scored for, and the mean number of words in a passage. */
type ScoreContext = Readonly<{ text: string; concepts: Concepts; meanWords: number }>;

/** Number of the best passages whose proximity is measured. */
const lookedClosely = 40;

/** Scores passages, each on its own and then with the others of its file; best first. */
export function scorePassages(profiles: readonly Profile[], context: ScoreContext) {
  const { text, concepts, meanWords } = context;
  const asked = toAsked(concepts.concepts);
  const question = { asked, names: concepts.names, said: toPlainWords(text), meanWords };
  const suits = hints.find(([hint]) => hint.test(text))?.[1] ?? (() => false);
  const own = profiles.map((profile) => judgeAlone(profile, { ...question, suits }));
  judgeFiles(own);
  const near = own
    .map((one) => ({ one, score: addUp(one.signs) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, lookedClosely);
  for (const { one } of near) one.signs.proximity = proximityOf(one.passage.terms.body, asked);
  return own
    .map(({ passage, signs }): ScoredPassage => ({ passage, signs, score: addUp(signs) }))
    .sort((a, b) => b.score - a.score || a.passage.id - b.passage.id);
}

function addUp(signs: Signs): number {
  return weighedSigns.reduce((sum, name) => sum + signs[name] * signWeights[name], signs.fit);
}

interface Judged {
  readonly passage: FoundPassage;
  /** Those that need the other passages are filled in later. */
  readonly signs: Signs;
  /** The coverage of each concept, in their order. */
  readonly matched: readonly number[];
}

interface AskedOfOne extends Pick<Concepts, 'names'>, Pick<ScoreContext, 'meanWords'> {
  readonly asked: Asked;
  /** The question, as `toPlainWords` returns it. */
  readonly said: string;
  suits(passage: FoundPassage): boolean;
}

/** The number of words from which a passage is long enough to answer. */
const enoughWords = 25;

function judgeAlone(profile: Profile, question: AskedOfOne): Judged {
  const { passage } = profile;
  const { asked, names, said, meanWords, suits } = question;
  const { matched, ...met } = meet(profile, asked, meanWords);
  const signs = {
    ...met,
    headingFocus: focusOf(passage.terms.heading, asked),
    headingSaid: isSaidIn(said, profile.plainHeading) ? 1 : 0,
    proximity: 0,
    file: 0,
    fileCoverage: 0,
    names: shareOfNames(profile, names, asked),
    opening: passage.line <= 3 || passage.trail.length === 0 ? 1 : 0,
    intent: suits(passage) ? 1 : 0,
    history: profile.isHistory ? 1 : 0,
    thin: Math.max(0, 1 - profile.words / enoughWords),
  };
  return { passage, signs, matched };
}

/** Returns whether the question has the heading word for word, small words too: “how do I *get a key*”. */
function isSaidIn(said: string, heading: string): boolean {
  // One word is too little: other signs count it.
  return heading.indexOf(' ', 1) < heading.length - 1 && said.includes(heading);
}

/** Returns the share of a heading that was asked for. */
function focusOf(heading: readonly string[], { standsFor }: Asked): number {
  if (heading.length === 0) return 0;
  const factorOf = (term: string) =>
    Math.max(0, ...(standsFor.get(term) ?? []).map(({ factor }) => factor));
  return heading.reduce((met, term) => met + factorOf(term), 0) / (heading.length + 1);
}

function shareOfNames({ headingName, uses }: Profile, names: Concepts['names'], asked: Asked) {
  const isThere = (name: string) => headingName === name || useIn(uses.get(name) ?? 0, 'names') > 0;
  const met = Math.max(0, ...[...names].map(([name, weight]) => (isThere(name) ? weight : 0)));
  return asked.weight === 0 ? 0 : Math.min(1, (2 * met) / asked.weight);
}

/** Adds how well the three best passages of each file fit, and how much of the question they meet together. */
function judgeFiles(passages: readonly Judged[]): void {
  const byFile = new Map<number, Judged[]>();
  for (const one of passages) {
    const { file } = one.passage;
    byFile.set(file, [...(byFile.get(file) ?? []), one]);
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

/** Maximum number of words between the parts of a statement. */
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

const hasCode = ({ terms }: FoundPassage) => terms.code.length > 0;
const namesDefault = ({ terms }: FoundPassage) =>
  terms.body.includes('default') || terms.code.includes('default');
const introduces = ({ heading, line }: FoundPassage) =>
  line <= 12 || /^(?:overview|introduction|what|description|about)\b/i.test(heading);
const isOfTrouble = ({ heading }: FoundPassage) =>
  /error|trouble|fail|issue|problem|fix|solution|debug|faq|common/i.test(heading);

/** Hints of questions at the kind of section that answers them, first the stronger ones; and what is of that kind. */
const hints: readonly (readonly [RegExp, (passage: FoundPassage) => boolean])[] = [
  [
    /\b(?:defaults?|by default|how (?:many|much|long|often|big|large)|maximum|minimum|limit)\b/i,
    namesDefault,
  ],
  [/\b(?:errors?|fails?|failed|failing|broken?|crash\w*|slow)\b/i, isOfTrouble],
  [/\b(?:why (?:do|does|is|are|did)|cannot|can'?t|not working|doesn'?t)\b/i, isOfTrouble],
  [
    /\b(?:which (?:file|module|function|class)|where is \S+ (?:defined|declared|implemented)|defines?|signature)\b/i,
    hasCode,
  ],
  [/^\s*(?:what(?:'s| is| are| does)|explain|describe|meaning of)\b/i, introduces],
  [/\b(?:how (?:do|can|to|should)|example|sample|way to)\b/i, hasCode],
  [
    /^\s*(?:make|use|set|add|create|run|turn|send|read|write|let|put|get|enable|disable)\b/i,
    hasCode,
  ],
];
