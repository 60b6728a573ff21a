import type { FoundPassage } from '../index/passage-index.ts';
import { toWords } from '../text/words.ts';
import type { Concepts } from './concepts.ts';
import { asideFactor, type CodeQuestion, isSourceCode, placeFactor } from './definitions.ts';
import { countIn, type Profile, toPlainWords } from './passage-store.ts';
import { type ConceptMatch, coverageOf, measurePassage, type Query, toQuery } from './query.ts';
import { featureWeights } from './weights.ts';

const weightedFeatures = Object.keys(featureWeights) as (keyof typeof featureWeights)[];

type Features = Record<'fit' | keyof typeof featureWeights, number>;

export interface ScoredPassage {
  readonly passage: FoundPassage;
  readonly features: Readonly<Features>;
  readonly score: number;
}

type ScoreContext = Readonly<{
  text: string;
  concepts: Concepts;
  meanWords: number;
  code: CodeQuestion;
  /** Whether a developer of the project asks, for whom the developers' pages are written. */
  isOfDeveloper: boolean;
  /** Passages that define names of the question, with match degrees from 0 to 1. */
  definitions: ReadonlyMap<number, number>;
}>;

/** Number of best passages for which the feature `proximity` is measured. */
const proximityCandidates = 40;

/** Scores passages, best first. A score also depends on other passages of the same file. */
export function scorePassages(profiles: readonly Profile[], context: ScoreContext) {
  const { text, concepts, meanWords, code, isOfDeveloper, definitions } = context;
  const query = toQuery(concepts.concepts);
  const question = {
    query,
    names: concepts.names,
    plainQuestion: toPlainWords(text),
    meanWords,
    code,
    isOfDeveloper,
    definitions,
  };
  const stems = toWords(text).words.map(({ stem }) => stem);
  const fitsHint = hints.find(([hint]) => hint.test(text))?.[1] ?? (() => false);
  const all = profiles.map((profile) => measureAlone(profile, { ...question, fitsHint }));
  addFileFeatures(all);
  const near = all
    .map((one) => ({ one, score: addUp(one.features) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, proximityCandidates);
  for (const { one } of near) {
    const { path, terms } = one.passage;
    one.features.proximity = Math.max(
      proximityOf(terms.body, query),
      proximityOf(terms.code, query),
    );
    one.features.quoted = asideFactor(path, code) * quotedShare(terms.code, stems);
  }
  return all
    .map(({ passage, features }): ScoredPassage => ({ passage, features, score: addUp(features) }))
    .sort((a, b) => b.score - a.score || a.passage.id - b.passage.id);
}

function addUp(features: Features): number {
  return weightedFeatures.reduce(
    (sum, name) => sum + features[name] * featureWeights[name],
    features.fit,
  );
}

interface MeasuredPassage {
  readonly passage: FoundPassage;
  /** Inputs of the score. `scorePassages` adds those that depend on other passages. */
  readonly features: Features;
  /** Degree (0 to 1) to which the passage matches each word or phrase of the question. */
  readonly matched: readonly number[];
}

interface ScoreQuestion
  extends Pick<Concepts, 'names'>,
    Pick<ScoreContext, 'meanWords' | 'code' | 'isOfDeveloper' | 'definitions'> {
  readonly query: Query;
  /** Question in lower case, without punctuation, with one space before and after each word. */
  readonly plainQuestion: string;
  /** Returns whether the passage is of the kind that the question asks for, such as code. */
  fitsHint(passage: FoundPassage): boolean;
}

const enoughWords = 25;

function measureAlone(profile: Profile, question: ScoreQuestion): MeasuredPassage {
  const { passage } = profile;
  const { query, names, plainQuestion, meanWords, fitsHint, code, definitions } = question;
  const defined = definitions.get(passage.id) ?? 0;
  const met = measurePassage(profile, query, meanWords);
  // Without spread syntax, which took a fifth of the time of an answer here.
  const features = {
    fit: met.fit,
    coverage: met.coverage,
    headingCoverage: met.headingCoverage,
    titleCoverage: met.titleCoverage,
    leadCoverage: met.leadCoverage,
    headingFocus: focusOf(passage.terms.heading, query),
    asked: met.headingCoverage * shareOfQuestion(passage),
    headingQuoted: quotesHeading(plainQuestion, profile.plainHeading) ? 1 : 0,
    proximity: 0,
    file: 0,
    fileCoverage: 0,
    names: shareOfNames(profile, names, query),
    defines: defined === 0 ? 0 : defined * placeFactor(passage, code),
    quoted: 0,
    undocumented: code.asksDocs && isSourceCode(passage.path) ? 1 : 0,
    opening: passage.line <= 3 || passage.trail.length === 0 ? 1 : 0,
    intent: fitsHint(passage) ? 1 : 0,
    history: profile.isHistory ? historyOf(passage.path, code) : 0,
    forDevelopers: isForOthers(profile, question) ? 1 : 0,
    thin: Math.max(0, 1 - profile.words / enoughWords),
  };
  return { passage, features, matched: met.matched };
}

function historyOf(path: string, { asksAside }: CodeQuestion): number {
  if (!isSourceCode(path)) return 1;
  return asksAside ? 0 : 2;
}

function shareOfQuestion({ heading, path }: FoundPassage): number {
  if (!heading.trimEnd().endsWith('?')) return 0;
  return /\bfaq\b|questions/i.test(path) ? 1 : 0.4;
}

function isForOthers(
  { isForDevelopers, plainHeading }: Profile,
  { isOfDeveloper, plainQuestion }: ScoreQuestion,
): boolean {
  return isForDevelopers && !isOfDeveloper && !quotesHeading(plainQuestion, plainHeading);
}

function quotesHeading(plainQuestion: string, heading: string): boolean {
  // Other features measure headings of one word.
  return heading.indexOf(' ', 1) < heading.length - 1 && plainQuestion.includes(heading);
}

function focusOf(heading: readonly string[], { matchesByTerm }: Query): number {
  if (heading.length === 0) return 0;
  const factorOf = (term: string) =>
    Math.max(0, ...(matchesByTerm.get(term) ?? []).map(({ factor }) => factor));
  return heading.reduce((met, term) => met + factorOf(term), 0) / (heading.length + 1);
}

function shareOfNames({ headingName, counts }: Profile, names: Concepts['names'], query: Query) {
  const has = (name: string) => headingName === name || countIn(counts.get(name) ?? 0, 'names') > 0;
  const met = Math.max(0, ...[...names].map(([name, weight]) => (has(name) ? weight : 0)));
  return query.weight === 0 ? 0 : Math.min(1, (2 * met) / query.weight);
}

function addFileFeatures(passages: readonly MeasuredPassage[]): void {
  const byFile = new Map<number, MeasuredPassage[]>();
  for (const one of passages) {
    const { file } = one.passage;
    byFile.set(file, [...(byFile.get(file) ?? []), one]);
  }
  for (const all of byFile.values()) {
    const ofFile = measureFile(all);
    for (const { features } of all) Object.assign(features, ofFile);
  }
}

function measureFile(all: readonly MeasuredPassage[]) {
  const best = all.toSorted((a, b) => b.features.fit - a.features.fit).slice(0, 3);
  const fitOf = (rank: number) => best[rank]?.features.fit ?? 0;
  const concepts = best[0]?.matched ?? [];
  const joint = concepts.map((_, at) => Math.max(...best.map(({ matched }) => matched[at] ?? 0)));
  return {
    file: 0.5 * fitOf(0) + 0.3 * fitOf(1) + 0.2 * fitOf(2),
    fileCoverage: joint.reduce((sum, one) => sum + one, 0) / Math.max(1, joint.length),
  };
}

const windowWords = 16;

/** Returns the largest share (0 to 1) of the query in `windowWords` consecutive words. */
export function proximityOf(text: readonly string[], query: Query): number {
  const mentions: (ConceptMatch & { readonly at: number })[] = [];
  text.forEach((term, at) => {
    for (const match of query.matchesByTerm.get(term) ?? []) mentions.push({ ...match, at });
  });
  let best = 0;
  let from = 0;
  mentions.forEach(({ at }, to) => {
    while (at - (mentions[from]?.at ?? at) >= windowWords) from += 1;
    best = Math.max(best, coverageOf(mentions.slice(from, to + 1), query));
  });
  return best;
}

const quotation = { common: 3, long: 9, maxWords: 60 } as const;

/** Returns how far (0 to 1) a question quotes code: by its longest common run of words. */
export function quotedShare(code: readonly string[], question: readonly string[]): number {
  const words = question.slice(0, quotation.maxWords);
  let longest = 0;
  // For each word of the question, the number of words up to it that the code before the current
  // word ends with.
  const runs = new Uint8Array(words.length);
  for (const term of code) {
    for (let at = words.length - 1; at >= 0; at -= 1) {
      runs[at] = words[at] === term ? (runs[at - 1] ?? 0) + 1 : 0;
      longest = Math.max(longest, runs[at] ?? 0);
    }
  }
  const { common, long } = quotation;
  return Math.min(1, Math.max(0, (longest - common) / (long - common)));
}

const hasCode = ({ terms }: FoundPassage) => terms.code.length > 0;
const namesDefault = ({ terms }: FoundPassage) =>
  terms.body.includes('default') || terms.code.includes('default');
const introduces = ({ heading, line }: FoundPassage) =>
  line <= 12 || /^(?:overview|introduction|what|description|about)\b/i.test(heading);
const isOfTrouble = ({ heading }: FoundPassage) =>
  /error|trouble|fail|issue|problem|fix|solution|debug|faq|common/i.test(heading);

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
