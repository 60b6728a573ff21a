import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { EarlierTurn } from '../../src/answers/answer.ts';
import { ownCorpus } from '../../src/answers/corpus/corpus.ts';
import { createExtractiveEngine } from '../../src/answers/engine/extractive-engine.ts';
import { openPassageIndex } from '../../src/answers/index/passage-index.ts';
import { refreshIndex } from '../../src/answers/index/refresh.ts';
import { plain, resolves } from './scoring.ts';

/**
 * Arguments of this script, which answers newcomers' questions about Perch and prints the share of
 * good answers. `--misses` also prints the questions with bad answers. Usage: `npx tsx
 * bench/answers/newcomers.ts [--set development|measuring] [--questions FILE] [--misses]`.
 */
const { values } = parseArgs({
  options: {
    set: { type: 'string', default: 'development' },
    questions: { type: 'string' },
    misses: { type: 'boolean', default: false },
  },
});

/** Question to answer: a line of `newcomers-*.jsonl`. */
interface NewcomersQuestion {
  readonly id: string;
  readonly question: string;
  /** Earlier questions of the same session, for a follow-up question. */
  readonly earlier?: readonly string[];
  readonly answerable: boolean;
  /** Acceptable facts. A good answer contains at least one of them in its first `beginning` characters. */
  readonly facts: readonly string[];
}

/** Number of characters at the start of an answer. A good answer contains one of the question's `facts` within them. */
const beginning = 400;

const path = values.questions ?? `bench/answers/newcomers-${values.set}.jsonl`;
const questions: readonly NewcomersQuestion[] = readFileSync(path, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line));
const corpus = ownCorpus();
const index = openPassageIndex(':memory:');
await refreshIndex({ index, corpora: [corpus] });
const engine = createExtractiveEngine(index, [corpus]);

const ask = (text: string, earlier: readonly EarlierTurn[]) =>
  engine.answer({ text, earlier }, { signal: new AbortController().signal, onText: () => {} });

const results = [];
for (const question of questions) {
  const earlier: EarlierTurn[] = [];
  for (const one of question.earlier ?? []) {
    const { text, citations } = await ask(one, earlier);
    earlier.push({ question: one, answer: text, citations });
  }
  const { text, abstained, citations } = await ask(question.question, earlier);
  const start = fold(text).slice(0, beginning);
  const hasFact = question.facts.some((fact) => start.includes(fold(fact)));
  const isResolved = citations.every(({ path: file, heading, line }) =>
    resolves({ file, heading, line }, corpus.root),
  );
  results.push({ question, start, abstained, hasFact, isResolved });
}
index.close();

const answerable = results.filter(({ question }) => question.answerable);
const unanswerable = results.filter(({ question }) => !question.answerable);
console.log(`| ${values.questions ?? values.set} | share | goal |\n| --- | --- | --- |`);
print('fact in the first 400 characters', answerable, ({ hasFact }) => hasFact, 'at least 0.80');
print('answerable, unsure', answerable, ({ abstained }) => abstained, '–');
print(
  'answerable, unsure without the fact',
  answerable,
  ({ abstained, hasFact }) => abstained && !hasFact,
  'at most 0.05',
);
print(
  'unanswerable, declined or unsure',
  unanswerable,
  ({ abstained }) => abstained,
  'at least 0.75',
);
print('every citation resolves', results, ({ isResolved }) => isResolved, '1.00');
if (values.misses) {
  for (const { question, start, abstained, hasFact } of results) {
    if (question.answerable ? hasFact : abstained) continue;
    console.log(
      `\n${question.id} ${question.question}\n  [${question.facts.join(' | ')}]\n  ${start}`,
    );
  }
}

type Result = (typeof results)[number];

function print(name: string, all: readonly Result[], fits: (one: Result) => boolean, goal: string) {
  const share = all.filter(fits).length / Math.max(1, all.length);
  console.log(`| ${name} (of ${all.length}) | ${share.toFixed(2)} | ${goal} |`);
}

/** Normalizes a text for comparison: lower case, without Markdown syntax, with single spaces. */
function fold(text: string): string {
  return plain(text)
    .replaceAll(/[*_`#]/g, '')
    .replaceAll(/\s+/g, ' ')
    .toLowerCase();
}
