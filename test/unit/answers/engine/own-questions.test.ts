import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { wrappings } from '../../../../bench/answers/wrappings.ts';
import type { Answer, EarlierTurn } from '../../../../src/answers/answer.ts';
import { ownCorpus } from '../../../../src/answers/corpus/corpus.ts';
import { type Answers, openAnswers } from '../../../../src/answers/open-answers.ts';
import { isLongRun } from '../../../support/long-run.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

interface LabelledQuestion {
  readonly question: string;
  readonly earlier?: readonly string[];
  readonly answerable: boolean;
  readonly facts: readonly string[];
}

const read = (name: string): readonly LabelledQuestion[] =>
  readFileSync(`bench/answers/${name}.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** Questions of newcomers: all of them in a long run, and otherwise every fourth. */
const newcomers = [...read('newcomers-development'), ...read('newcomers-measuring')].filter(
  (_, at) => isLongRun || at % 4 === 0,
);

let answers: Answers;
beforeAll(async () => {
  answers = openAnswers({ corpora: [ownCorpus()], path: ':memory:', clock: createManualClock() });
  await answers.refresh();
}, 300_000);
afterAll(() => answers.close());

const answered = new Map<string, Promise<Answer>>();
function ask(text: string, earlier: readonly EarlierTurn[] = []): Promise<Answer> {
  const key = JSON.stringify([text, earlier]);
  const call = { signal: new AbortController().signal, onText() {} };
  const answer = answered.get(key) ?? answers.engine.answer({ text, earlier }, call);
  answered.set(key, answer);
  return answer;
}

async function shareWithFact(questions: readonly LabelledQuestion[]): Promise<number> {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[*_`#]/g, '');
  const answerable = questions.filter((one) => one.answerable);
  let found = 0;
  for (const { question, earlier = [], facts } of answerable) {
    const turns: EarlierTurn[] = [];
    for (const one of earlier) {
      const { text, citations } = await ask(one, turns);
      turns.push({ question: one, answer: text, citations });
    }
    const start = plain((await ask(question, turns)).text).slice(0, 400);
    if (facts.some((fact) => start.includes(plain(fact)))) found += 1;
  }
  return found / answerable.length;
}

it('answers follow-up questions about the subject of the question before', async () => {
  expect(await shareWithFact(read('follow-ups'))).toBeGreaterThanOrEqual(0.8);
});

it('answers pasted errors and logs', async () => {
  expect(await shareWithFact(read('pasted-errors'))).toBeGreaterThanOrEqual(0.9);
});

it('answers questions of developers', async () => {
  expect(await shareWithFact(read('developers'))).toBeGreaterThanOrEqual(0.8);
});

it('cites the pages for users before those for developers in answers to users', async () => {
  const cited: string[] = [];
  for (const { question } of newcomers) {
    const { citations } = await ask(question);
    if (/architecture|CONTRIBUTING|development/.test(citations[0]?.path ?? ''))
      cited.push(question);
  }

  expect(cited).toEqual([]);
}, 300_000);

it('answers a question within a polite message like the question alone', async () => {
  const changed: string[] = [];
  for (const [at, { question }] of newcomers.entries()) {
    const message = wrappings[at % wrappings.length]?.(question) ?? '';
    const [alone, wrapped] = [await ask(question), await ask(message)];
    const places = [alone, wrapped].map(({ citations: [first], abstained }) =>
      JSON.stringify([first?.path, first?.heading, abstained]),
    );
    if (places[0] !== places[1]) changed.push(message);
  }

  expect(wrappings.length).toBeGreaterThanOrEqual(10);
  expect(changed.length / newcomers.length, changed.join('\n---\n')).toBeLessThanOrEqual(0.02);
}, 120_000);
