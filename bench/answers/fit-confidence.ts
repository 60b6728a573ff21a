/**
 * Script that fits the two models of the confidence: whether a question is answerable, and whether the first citation is
 * right. Fits them to the sets of one half and prints the results on the other half, both ways. Then fits them to all
 * sets and writes `src/answers/engine/confidence-model.ts`. Usage: `npx tsx bench/answers/fit-confidence.ts`.
 */
import { writeFileSync } from 'node:fs';
import { toFeatures, toFirstFeatures } from '../../src/answers/engine/confidence.ts';
import { searchPassages } from '../../src/answers/engine/find.ts';
import { createLexicon } from '../../src/answers/engine/lexicon.ts';
import { readMessage } from '../../src/answers/engine/message.ts';
import { createPassageStore } from '../../src/answers/engine/passage-store.ts';
import { readVocabulary } from '../../src/answers/text/words.ts';
import { chance, fitLogistic, type Logistic, type Sample } from './logistic.ts';
import { readQuestions } from './questions.ts';
import { openRig } from './rig.ts';
import { quantile } from './scoring.ts';

/** Labelled questions on which the models are trained. */
const questions = [
  ...readQuestions('bench/answers/questions.jsonl'),
  ...readQuestions('bench/answers/questions-held-out.jsonl'),
  ...readQuestions('bench/answers/questions-blind.jsonl'),
];

/**
 * Additional unanswerable samples: questions about other document sets. One in `oneOf` questions is
 * used, with the sample weight `weight`.
 */
const foreign = { weight: 0.3, oneOf: 6 } as const;

/** Maximum share of the answerable training questions whose answers begin with the note that Perch is not sure. */
const falselyUnsure = 0.1;

interface SetSample extends Sample {
  readonly set: string;
  readonly isForeign: boolean;
}

/** Samples for the model of answerable questions, and for the model of the first citation. */
const samples: SetSample[] = [];
const firstSamples: SetSample[] = [];
const vocabulary = readVocabulary();
for (const set of new Set(questions.map(({ corpus }) => corpus))) {
  const first = questions.find(({ corpus }) => corpus === set);
  if (first === undefined) continue;
  const rig = await openRig(first);
  const store = createPassageStore(rig.index);
  const context = { store, lexicon: createLexicon(rig.index), vocabulary };
  questions.forEach(({ corpus, root, question, answerable, expect }, at) => {
    const isForeign = corpus !== set;
    if (isForeign && (!answerable || at % foreign.oneOf !== 0)) return;
    const findings = searchPassages(readMessage(question, context).asked, context);
    const shared = { set, isForeign, weight: isForeign ? foreign.weight : 1 };
    samples.push({
      ...shared,
      features: Object.values(toFeatures(findings)),
      isPositive: answerable && !isForeign,
    });
    const [best] = findings.scored;
    if (!answerable || isForeign || best === undefined) return;
    firstSamples.push({
      ...shared,
      features: Object.values(toFirstFeatures(findings)),
      isPositive: expect.flat().some(({ file }) => file === `${root}/${best.passage.path}`),
    });
  });
  rig.close();
}

interface Models {
  readonly answerable: Logistic;
  readonly threshold: number;
  readonly first: Logistic;
}

function fitTo(isUsed: (sample: SetSample) => boolean): Models {
  const own = samples.filter(isUsed);
  const answerable = fitLogistic(own, { isBalanced: true });
  const positive = own.filter(({ isPositive }) => isPositive);
  const chances = positive.map(({ features }) => chance(answerable, features));
  const first = fitLogistic(firstSamples.filter(isUsed), { isBalanced: false });
  return { answerable, threshold: quantile(chances, falselyUnsure), first };
}

/** Returns the probability that a random positive sample has a higher chance than a random negative one (AUC). */
function toAuc(model: Logistic, on: readonly Sample[]): number {
  const chances = (isPositive: boolean) =>
    on
      .filter((one) => one.isPositive === isPositive)
      .map(({ features }) => chance(model, features));
  const [positive, negative] = [chances(true), chances(false)];
  const wins = positive.flatMap((a) => negative.map((b) => (a > b ? 1 : a === b ? 0.5 : 0)));
  return wins.reduce<number>((sum, win) => sum + win, 0) / wins.length;
}

/** Returns the mean difference between the chance and the share of positive samples, in ten ranges of the chance. */
function toCalibrationError(model: Logistic, on: readonly Sample[]): number {
  const ranges = Array.from({ length: 10 }, () => ({ chances: 0, positive: 0 }));
  for (const { features, isPositive } of on) {
    const likelihood = chance(model, features);
    const range = ranges[Math.min(9, Math.floor(10 * likelihood))];
    if (range === undefined) continue;
    range.chances += likelihood;
    range.positive += isPositive ? 1 : 0;
  }
  const errors = ranges.map(({ chances, positive }) => Math.abs(chances - positive));
  return errors.reduce((sum, error) => sum + error, 0) / on.length;
}

function printRow(name: string, models: Models, isTested: (sample: SetSample) => boolean): void {
  const on = samples.filter(isTested);
  const unsure = (list: readonly SetSample[]) =>
    list.filter(({ features }) => chance(models.answerable, features) < models.threshold).length /
    list.length;
  const own = on.filter(({ isForeign }) => !isForeign);
  const first = firstSamples.filter(isTested);
  const cells = [
    unsure(own.filter(({ isPositive }) => !isPositive)),
    unsure(on.filter(({ isForeign }) => isForeign)),
    unsure(own.filter(({ isPositive }) => isPositive)),
    toAuc(models.first, first),
    toCalibrationError(models.first, first),
  ];
  console.log(`| ${[name, ...cells.map((cell) => cell.toFixed(2))].join(' | ')} |`);
}

const heads = [
  'tested on',
  'unsure',
  'unsure of other sets',
  'falsely unsure',
  'first citation: AUC',
  'calibration error',
];
console.log(`| ${heads.join(' | ')} |\n|${' --- |'.repeat(heads.length)}`);
const sets = [...new Set(samples.map(({ set }) => set))];
const isOfHalf = (half: number) => (sample: SetSample) => sets.indexOf(sample.set) % 2 === half;
printRow('half of the sets', fitTo(isOfHalf(0)), isOfHalf(1));
printRow('other half', fitTo(isOfHalf(1)), isOfHalf(0));
const models = fitTo(() => true);
printRow('all (fitted to them)', models, () => true);

const rounded = (value: number) => Number(value.toFixed(2));
writeFileSync(
  'src/answers/engine/confidence-model.ts',
  `/**
 * Logistic model that estimates whether a question is answerable, fitted by \`bench/answers/fit-confidence.ts\`.
 * \`threshold\`: minimum confidence at which an answer is not marked as uncertain.
 */
export const confidenceModel = {
  bias: ${rounded(models.answerable.bias)},
  /** Coefficients of the logistic model, one for each feature, in the order of the features that \`toFeatures\` returns. */
  factors: [${models.answerable.factors.map(rounded).join(', ')}],
  threshold: ${rounded(models.threshold)},
};

/** Logistic model that estimates whether the first citation is right, in the order of \`toFirstFeatures\`. */
export const firstModel = {
  bias: ${rounded(models.first.bias)},
  factors: [${models.first.factors.map(rounded).join(', ')}],
};
`,
);
