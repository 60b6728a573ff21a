import { readFileSync } from 'node:fs';

/** A place that answers a question; any place in the file where `heading` is null. */
export interface Place {
  readonly file: string;
  readonly heading: string | null;
  /** Where the heading stands, from 1; absent where there is none. */
  readonly line?: number;
}

/** A line of `questions.jsonl`. */
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

/** Reads questions, one JSON object a line. */
export function readQuestions(path: string): readonly LabelledQuestion[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line));
}
