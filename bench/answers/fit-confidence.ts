/**
 * Script that fits the model that decides whether a question is answerable. Writes the model to
 * `src/answers/engine/confidence-model.ts`, and prints the results of a cross-validation.
 * Usage: `npx tsx bench/answers/fit-confidence.ts`.
 */
import { writeFileSync } from 'node:fs';
import { toFeatures } from '../../src/answers/engine/confidence.ts';
import { searchPassages } from '../../src/answers/engine/find.ts';
import { createLexicon } from '../../src/answers/engine/lexicon.ts';
import { createPassageStore } from '../../src/answers/engine/passage-store.ts';
import { readVocabulary } from '../../src/answers/text/vocabulary.ts';
import { chance, fitLogistic, type Logistic, type Sample } from './logistic.ts';
import { readQuestions } from './questions.ts';
import { openRig } from './rig.ts';
import { quantile } from './scoring.ts';

/** Labelled questions on which the model is trained. */
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

/** Maximum share of the answerable training questions that the model may classify as unanswerable. */
const falseDeclines = 0.025;

interface SetSample extends Sample {
  readonly set: string;
  readonly isForeign: boolean;
}

const samples: SetSample[] = [];
const names = new Set<string>();
const vocabulary = readVocabulary();
for (const set of new Set(questions.map(({ corpus }) => corpus))) {
  const first = questions.find(({ corpus }) => corpus === set);
  if (first === undefined) continue;
  const rig = await openRig(first);
  const context = {
    store: createPassageStore(rig.index),
    lexicon: createLexicon(rig.index),
    vocabulary,
  };
  questions.forEach(({ corpus, question, answerable }, at) => {
    const isForeign = corpus !== set;
    if (isForeign && (!answerable || at % foreign.oneOf !== 0)) return;
    const features = toFeatures(searchPassages(question, context));
    for (const name of Object.keys(features)) names.add(name);
    samples.push({
      set,
      isForeign,
      features: Object.values(features),
      isPositive: answerable && !isForeign,
      weight: isForeign ? foreign.weight : 1,
    });
  });
  rig.close();
}

interface Fitted extends Logistic {
  readonly threshold: number;
}

function fitTo(from: readonly SetSample[]): Fitted {
  const model = fitLogistic(from);
  const answerable = from.filter(({ isPositive }) => isPositive);
  const threshold = quantile(
    answerable.map(({ features }) => chance(model, features)),
    falseDeclines,
  );
  return { ...model, threshold };
}

function printRow(name: string, model: Fitted, on: readonly SetSample[]): void {
  const declined = (list: readonly SetSample[]) =>
    (
      list.filter(({ features }) => chance(model, features) < model.threshold).length / list.length
    ).toFixed(2);
  const own = on.filter(({ isForeign }) => !isForeign);
  console.log(
    `| ${name} | ${declined(own.filter(({ isPositive }) => !isPositive))} | ${declined(on.filter(({ isForeign }) => isForeign))} | ${declined(own.filter(({ isPositive }) => isPositive))} |`,
  );
}

console.log(
  '| held out | declined | declined of other sets | falsely declined |\n| --- | --- | --- | --- |',
);
for (const set of new Set(samples.map((sample) => sample.set))) {
  const model = fitTo(samples.filter((sample) => sample.set !== set));
  printRow(
    set,
    model,
    samples.filter((sample) => sample.set === set),
  );
}
const model = fitTo(samples);
printRow('none', model, samples);

const rounded = (value: number) => Number(value.toFixed(2));
console.log([...names].map((name, at) => `${name} ${rounded(model.factors[at] ?? 0)}`).join(', '));
writeFileSync(
  'src/answers/engine/confidence-model.ts',
  `/** Logistic model, fitted by \`bench/answers/fit-confidence.ts\`. Questions below \`threshold\` are not answered. */
export const confidenceModel = {
  bias: ${rounded(model.bias)},
  /** Coefficients, in the order of the inputs that \`toFeatures\` returns. */
  factors: [${model.factors.map(rounded).join(', ')}],
  threshold: ${rounded(model.threshold)},
};
`,
);
