import { onTestFinished } from 'vitest';
import type { Answer, AnswerEngine, EarlierTurn, Fallback } from '../../src/answers/answer.ts';
import { addModel, type ModelChoice } from '../../src/answers/llm/add-model.ts';
import { openAnswers } from '../../src/answers/open-answers.ts';
import { corpusOf } from './corpus-folder.ts';
import { type FakeModel, fakeModel, type ModelExchange } from './fake-model.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';

/** Documents that the engine of a test answers from. */
export const harbourDocs = {
  'gates.md': [
    '# Gates',
    '',
    '## Opening hours',
    '',
    'The sluice gates open at six in the morning.',
    '',
    '## Paint',
    '',
    'The gates are painted green. See https://paint.example/green for the tin.',
  ].join('\n'),
  'cranes.md': [
    '# Cranes',
    '',
    '## Starting',
    '',
    'Start a crane with `crane start`:',
    '',
    '```sh',
    'crane start --slow',
    '```',
  ].join('\n'),
} as const;

/** Question of a test. */
export interface AskedModel {
  readonly answer: Promise<Answer>;
  /** Streamed chunks of text. */
  readonly pieces: readonly string[];
  /** Resolves when the streamed text contains these words. */
  received(words: string): Promise<void>;
  cancel(): void;
}

/** Engine with a language model that the test controls. */
export interface ModelRig {
  readonly engine: AnswerEngine;
  readonly model: FakeModel;
  readonly clock: ManualClock;
  readonly fallbacks: readonly Fallback[];
  /** Folder of the documents. */
  readonly root: string;
  refresh(): Promise<unknown>;
  ask(text: string, earlier?: readonly EarlierTurn[]): AskedModel;
}

/** Options of the rig. */
export interface ModelRigOptions {
  readonly script?: (exchange: ModelExchange) => void;
  readonly choice?: Partial<ModelChoice>;
  readonly docs?: Readonly<Record<string, string>>;
}

/** Opens an engine with documents and a fake model. Both are closed at the end of the test. */
export async function openModelRig(options: ModelRigOptions = {}): Promise<ModelRig> {
  const clock = createManualClock();
  const model = await fakeModel(options.script);
  const corpus = corpusOf(options.docs ?? harbourDocs);
  const fallbacks: Fallback[] = [];
  const answers = addModel(openAnswers({ corpora: [corpus], path: ':memory:', clock }), {
    model: { ...usualChoice, url: model.url, ...options.choice },
    clock,
    onFallback: (fallback) => fallbacks.push(fallback),
  });
  onTestFinished(() => answers.close());
  await answers.refresh();
  return {
    engine: answers.engine,
    model,
    clock,
    fallbacks,
    root: corpus.root,
    refresh: () => answers.refresh(),
    ask: (text, earlier = []) => ask(answers.engine, { text, earlier }),
  };
}

const usualChoice = {
  model: 'harbour-7b',
  key: 'sk-harbour-0123456789',
  stallMs: 15_000,
  totalMs: 90_000,
  maxCharacters: 12_000,
  reranks: false,
  connectTimeoutMs: 2000,
  userAgent: 'Perch/test',
} as const;

function ask(engine: AnswerEngine, question: { text: string; earlier: readonly EarlierTurn[] }) {
  const controller = new AbortController();
  const pieces: string[] = [];
  const waiting = new Set<() => void>();
  const onText = (piece: string) => {
    pieces.push(piece);
    for (const look of waiting) look();
  };
  return {
    answer: engine.answer(question, { signal: controller.signal, onText }),
    pieces,
    received: (words: string) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!pieces.join('').includes(words)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    cancel: () => controller.abort(new Error('cancelled')),
  };
}
