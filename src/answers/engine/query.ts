import { toWords, type Vocabulary } from '../text/words.ts';
import type { Concept } from './concepts.ts';
import { countIn, leadOnly, type Profile } from './passage-store.ts';
import { weights } from './weights.ts';

/** Match of a term. `concept`: index of the concept. `factor`: 1 if exact, less for a synonym. */
export type ConceptMatch = Readonly<{ concept: number; factor: number }>;

export type Query = ReturnType<typeof toQuery>;

/** Prepares concepts for comparison. `matchesByTerm` maps terms, also synonyms, to concepts. */
export function toQuery(concepts: readonly Concept[]) {
  const matchesByTerm = new Map<string, ConceptMatch[]>();
  concepts.forEach(({ terms }, concept) => {
    for (const [term, factor] of terms) {
      matchesByTerm.set(term, [...(matchesByTerm.get(term) ?? []), { concept, factor }]);
    }
  });
  return { concepts, weight: concepts.reduce((sum, { weight }) => sum + weight, 0), matchesByTerm };
}

/** Returns the weighted share (0 to 1) of the concepts matched, each with its highest factor. */
export function coverageOf(
  matches: readonly ConceptMatch[],
  { concepts, weight: all }: Query,
): number {
  const fits = new Float64Array(concepts.length);
  for (const { concept, factor } of matches) fits[concept] = Math.max(fits[concept] ?? 0, factor);
  const sum = concepts.reduce((total, { weight }, at) => total + weight * (fits[at] ?? 0), 0);
  return all === 0 ? 0 : sum / all;
}

const zeroMeasures = { fit: 0, coverage: 0, headingCoverage: 0, titleCoverage: 0, leadCoverage: 0 };
const measures = Object.keys(zeroMeasures) as (keyof typeof zeroMeasures)[]; // its own keys

/** Measures a match, from 0 to 1. `fit` is the BM25F score, `matched` has one for each concept. */
export function measurePassage(
  profile: Profile,
  { concepts, weight: all }: Query,
  meanWords: number,
) {
  const { lengthLoss } = weights;
  const length = 1 - lengthLoss + (lengthLoss * profile.words) / Math.max(1, meanWords);
  const matches = { ...zeroMeasures };
  const matched: number[] = [];
  for (const { terms, weight } of concepts) {
    const best = measureConcept(profile, terms, length);
    matched.push(best.coverage);
    for (const measure of measures) matches[measure] += weight * best[measure];
  }
  const share = all === 0 ? 0 : 1 / all;
  for (const measure of measures) matches[measure] *= share;
  return { ...matches, matched };
}

function measureConcept({ counts }: Profile, terms: Concept['terms'], length: number) {
  const best = { ...zeroMeasures };
  for (const [term, factor] of terms) {
    const use = counts.get(term);
    if (use === undefined) continue;
    const inLead = countIn(use, 'lead');
    best.leadCoverage = Math.max(best.leadCoverage, inLead * factor);
    // Some terms occur only at the beginning of the file, not in this passage.
    if (use === inLead * leadOnly) continue;
    best.coverage = Math.max(best.coverage, factor);
    best.headingCoverage = Math.max(best.headingCoverage, countIn(use, 'heading') * factor);
    best.titleCoverage = Math.max(best.titleCoverage, countIn(use, 'title') * factor);
    best.fit = Math.max(best.fit, factor * saturate(use, length));
  }
  return best;
}

function saturate(use: number, length: number): number {
  const inText = countIn(use, 'body') * weights.inBody + countIn(use, 'code') * weights.inCode;
  const above =
    countIn(use, 'title') * weights.inTitle +
    countIn(use, 'trail') * weights.inTrail +
    countIn(use, 'heading') * weights.inHeading +
    Math.min(2, countIn(use, 'names')) * weights.inNames;
  const mentions = inText / length + above;
  return mentions / (weights.saturation + mentions);
}

const maxParts = 4;

const splitPoints =
  /(?<=[?!.;]) | ?; ?|,? (?:and|then|but) (?:also |then )?|, (?=(?:how|what|which|where|when|why|who|can|is|are|does|do)\b)/i;

/** Splits a text into questions. Returns an empty list if it has only one. */
export function toParts(question: string, vocabulary: Vocabulary): readonly string[] {
  const pieces = question.replaceAll(/\s+/g, ' ').split(splitPoints);
  const parts: string[] = [];
  for (const piece of pieces.map((one) => one.trim()).filter((one) => one !== '')) {
    const before = parts.at(-1);
    if (before !== undefined && !isStandalone(piece, vocabulary)) {
      parts[parts.length - 1] = `${before} ${piece}`;
    } else parts.push(piece);
  }
  const [first = '', second = '', ...rest] = parts;
  const whole =
    isStandalone(first, vocabulary) || second === '' ? parts : [`${first} ${second}`, ...rest];
  return whole.length < 2 ? [] : whole.slice(0, maxParts);
}

const askingWords: ReadonlySet<string> = new Set(
  'how what which where when why who can is are does do should'.split(' '),
);

function isStandalone(piece: string, vocabulary: Vocabulary): boolean {
  const { stopWords, orderingWords } = vocabulary;
  const [first, ...rest] = toWords(piece).words;
  if (first === undefined) return false;
  if (askingWords.has(first.plain)) return contentWords(piece, vocabulary).length >= 1;
  const hasObject = rest.some(({ plain }) => !stopWords.has(plain));
  return orderingWords.has(first.plain) && hasObject && rest.length >= 2;
}

/** Returns the words that describe the subject: no stop words and no very common words. */
export function contentWords(
  text: string,
  { stopWords, weakWords }: Vocabulary,
): readonly string[] {
  return toWords(text)
    .words.map(({ plain }) => plain)
    .filter((plain) => !stopWords.has(plain) && !weakWords.has(plain));
}
