import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LabelledQuestion, Place } from './questions.ts';

/** Parts of an answer that the benchmark scores. */
export interface JudgedAnswer {
  readonly text: string;
  readonly abstained: boolean;
  readonly citations: readonly JudgedCitation[];
  readonly ms: number;
}

/** Citation in an answer. `file` is relative to the package folder. */
export interface JudgedCitation {
  readonly file: string;
  readonly heading: string;
  readonly line: number;
}

/** Scores of one answer. The optional members are absent for unanswerable questions. */
export interface Judgement {
  readonly question: LabelledQuestion;
  readonly answer: JudgedAnswer;
  readonly first?: boolean;
  readonly cited?: boolean;
  readonly heading?: boolean;
  readonly phrase?: boolean;
  readonly valid?: boolean;
}

/** Scores an answer by its first five citations and first 4,000 characters. `folder` contains the cited files. */
export function judge(question: LabelledQuestion, answer: JudgedAnswer, folder: string): Judgement {
  if (!question.answerable) return { question, answer };
  const citations = answer.citations.slice(0, 5);
  const inFile = (place: Place, { file }: JudgedCitation) => place.file === file;
  const inSection = (place: Place, citation: JudgedCitation) =>
    inFile(place, citation) &&
    (place.heading === null || plain(place.heading) === plain(citation.heading));
  const every = (fits: (place: Place, citation: JudgedCitation) => boolean) =>
    question.expect.every((group) =>
      group.some((place) => citations.some((citation) => fits(place, citation))),
    );
  const [first] = citations;
  const text = answer.text.slice(0, 4000);
  return {
    question,
    answer,
    first: first !== undefined && question.expect.flat().some((place) => inFile(place, first)),
    cited: every(inFile),
    heading: every(inSection),
    phrase: question.phrases.some((phrase) => text.includes(phrase)),
    valid: citations.every((citation) => resolves(citation, folder)),
  };
}

/** Returns the text of a heading without markup, in lower case. */
export function plain(heading: string): string {
  return heading
    .replaceAll(/<\/?[a-z][^>]*>/gi, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*~_\\]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

/** Returns whether the cited line exists. In Markdown files, the cited heading must be on or above that line. */
export function resolves({ file, heading, line }: JudgedCitation, folder: string): boolean {
  const lines = readFileSync(join(folder, file), 'utf8').split('\n');
  if (line < 1 || line > lines.length) return false;
  if (heading === '' || !/\.mdx?$/.test(file)) return true;
  return lines.slice(0, line).some((one) => plain(one).includes(plain(heading)));
}

/**
 * Aggregated scores of several answers. All members except `questions` are shares from 0 to 1. A share of zero
 * answers is `NaN`: for example, `declined` is `NaN` if no question is unanswerable.
 */
export interface Shares {
  readonly questions: number;
  readonly first: number;
  readonly cited: number;
  readonly heading: number;
  readonly phrase: number;
  readonly valid: number;
  /** Share of the declined or unsure answers whose questions are unanswerable. */
  readonly declinePrecision: number;
  /** Share of the unanswerable questions that were declined, or answered with the note that Perch is not sure. */
  readonly declined: number;
  /** Share of the answerable questions that were declined, or answered with the note that Perch is not sure. */
  readonly falselyDeclined: number;
  /** Share of the answerable questions that were declined, or answered with that note and without the right section. */
  readonly withheld: number;
}

/**
 * Aggregates the scores of several answers. `first`, `cited`, `heading`, `phrase` and `valid` are the shares of the
 * answerable questions whose answers have the score `true`. A share is `NaN` if it is calculated from zero answers.
 */
export function toShares(judgements: readonly Judgement[]): Shares {
  const answerable = judgements.filter(({ question }) => question.answerable);
  const others = judgements.filter(({ question }) => !question.answerable);
  const declined = judgements.filter(({ answer }) => answer.abstained);
  const share = (part: readonly unknown[], whole: readonly unknown[]) =>
    whole.length === 0 ? Number.NaN : part.length / whole.length;
  const of = (name: 'first' | 'cited' | 'heading' | 'phrase' | 'valid') =>
    share(
      answerable.filter((one) => one[name] === true),
      answerable,
    );
  return {
    questions: judgements.length,
    first: of('first'),
    cited: of('cited'),
    heading: of('heading'),
    phrase: of('phrase'),
    valid: of('valid'),
    declinePrecision: share(
      declined.filter(({ question }) => !question.answerable),
      declined,
    ),
    declined: share(
      others.filter(({ answer }) => answer.abstained),
      others,
    ),
    falselyDeclined: share(
      answerable.filter(({ answer }) => answer.abstained),
      answerable,
    ),
    withheld: share(
      answerable.filter(({ answer, heading }) => answer.abstained && !heading),
      answerable,
    ),
  };
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
