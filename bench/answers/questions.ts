import { readFileSync } from 'node:fs';

/** Document section that answers a question; the whole file if `heading` is `null`. */
export interface Place {
  readonly file: string;
  readonly heading: string | null;
  /** Line of the heading, counted from 1. Absent if `heading` is `null`. */
  readonly line?: number;
}

/** Question with the expected answer: a line of `questions.jsonl`. */
export interface LabelledQuestion {
  readonly id: string;
  readonly corpus: string;
  readonly root: string;
  readonly kind: 'single' | 'typo' | 'multi' | 'unanswerable';
  readonly question: string;
  readonly answerable: boolean;
  readonly expect: readonly (readonly Place[])[];
  readonly phrases: readonly string[];
}

/** Reads the questions from a file with one JSON object per line. */
export function readQuestions(path: string): readonly LabelledQuestion[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line));
}
