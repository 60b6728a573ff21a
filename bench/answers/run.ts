import { parseArgs } from 'node:util';
import { type LabelledQuestion, readQuestions } from './questions.ts';
import { openRig } from './rig.ts';
import {
  type JudgedAnswer,
  type Judgement,
  judge,
  quantile,
  type Shares,
  toShares,
} from './scoring.ts';
import { wrappings } from './wrappings.ts';

/**
 * Arguments of this script, which answers labelled questions and compares the answers with those of plain BM25
 * search. Downloads packages on the first run. Usage: `npx tsx bench/answers/run.ts [--questions FILE]… [--wrapped]
 * [--misses]`. Without `--questions`, all three files are used. `--wrapped` asks each question within a polite or talkative message.
 */
const { values } = parseArgs({
  options: {
    questions: {
      type: 'string',
      multiple: true,
      default: ['', '-held-out', '-blind'].map((set) => `bench/answers/questions${set}.jsonl`),
    },
    wrapped: { type: 'boolean', default: false },
    misses: { type: 'boolean', default: false },
  },
});

/** Number of times that each question is answered. Only the fastest time counts, to reduce noise. */
const times = 3;

function quickest(answers: readonly JudgedAnswer[]): JudgedAnswer {
  const [first, ...others] = answers;
  if (first === undefined) throw new RangeError('There are no answers.');
  return others.reduce((best, one) => (one.ms < best.ms ? one : best), first);
}

const columns: readonly (readonly [string, keyof Shares])[] = [
  ['first', 'first'],
  ['cited', 'cited'],
  ['heading', 'heading'],
  ['phrase', 'phrase'],
  ['valid', 'valid'],
  ['declined or unsure', 'declined'],
  ['of these right', 'declinePrecision'],
  ['falsely declined or unsure', 'falselyDeclined'],
  ['the same without the section', 'withheld'],
];

function row(name: string, judgements: readonly Judgement[], timeRatio?: number): string {
  const shares = toShares(judgements);
  const cells = columns.map(([, key]) =>
    Number.isNaN(shares[key]) ? '–' : shares[key].toFixed(2),
  );
  const time = timeRatio === undefined ? '–' : timeRatio.toFixed(1);
  return `| ${name} | ${[shares.questions, ...cells, time].join(' | ')} |`;
}

const heads = ['set', 'questions', ...columns.map(([title]) => title), 'p95, times bare FTS5'];
console.log(`| ${heads.join(' | ')} |\n|${' --- |'.repeat(heads.length)}`);

const allQuestions = values.questions.map(readQuestions);
const questions = allQuestions.flat();
const messageOf = ({ question }: LabelledQuestion, at: number) =>
  values.wrapped ? (wrappings[at % wrappings.length]?.(question) ?? question) : question;
const ours: Judgement[] = [];
const plain: Judgement[] = [];
for (const corpus of new Set(questions.map((question) => question.corpus))) {
  const own = questions.filter((question) => question.corpus === corpus);
  const [first] = own;
  if (first === undefined) continue;
  const rig = await openRig(first);
  for (const question of own.slice(0, 8)) await rig.ask(question.question);
  const mine: Judgement[] = [];
  const bare: Judgement[] = [];
  for (const [at, question] of own.entries()) {
    const message = messageOf(question, at);
    const answers: JudgedAnswer[] = [];
    const bareAnswers: JudgedAnswer[] = [];
    for (let time = 0; time < times; time += 1) {
      answers.push(await rig.ask(message));
      bareAnswers.push(rig.baseline.answer(message));
    }
    mine.push(judge(question, quickest(answers), rig.folder));
    bare.push(judge(question, quickest(bareAnswers), rig.folder));
  }
  const p95 = (list: readonly Judgement[]) =>
    quantile(
      list.map(({ answer }) => answer.ms),
      0.95,
    );
  console.log(row(corpus, mine, p95(mine) / p95(bare)));
  console.log(row('plain BM25', bare));
  ours.push(...mine);
  plain.push(...bare);
  rig.close();
}
values.questions.forEach((file, at) => {
  const isOwn = ({ question }: Judgement) => allQuestions[at]?.includes(question) === true;
  console.log(row(`**${file}**`, ours.filter(isOwn)));
});
console.log(row('**all**', ours));
console.log(row('plain BM25', plain));

if (values.misses) {
  for (const { question, answer, first, cited, phrase } of ours) {
    if (question.answerable ? first && cited && phrase : answer.abstained) continue;
    const signs = question.answerable
      ? `first ${first}, cited ${cited}, phrase ${phrase}`
      : 'answered';
    console.log(`\n${question.id} ${question.question} (${answer.abstained ? 'declined' : signs})`);
    for (const { file, heading, line } of answer.citations)
      console.log(`  ${file}#${heading}:${line}`);
  }
}
