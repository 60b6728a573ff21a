import type {
  Answer,
  AnswerEngine,
  EngineCallOptions,
  Question,
} from '../../src/answers/answer.ts';

/** Test engine that runs a script for each question and records the questions. */
export interface ScriptedEngine extends AnswerEngine {
  isReady: boolean;
  readonly asked: readonly Question[];
}

/** Returns an answer whose text quotes the question. */
export function answerTo(text: string, given: Partial<Answer> = {}): Answer {
  return {
    text: `The answer to “${text}”.`,
    citations: [{ path: 'docs/start.md', heading: 'Start', line: 1, endLine: 3, score: 0.9 }],
    abstained: false,
    finishReason: 'stop',
    ...given,
  };
}

/** Function that answers a question. */
export type Script = (question: Question, call: EngineCallOptions) => Promise<Answer>;

/** Creates an engine. By default it answers at once, without streaming. */
export function createScriptedEngine(
  script: Script = async ({ text }) => answerTo(text),
): ScriptedEngine {
  const asked: Question[] = [];
  return {
    modelId: 'perch/scripted',
    isReady: true,
    asked,
    answer: (question, call) => {
      asked.push(question);
      return script(question, call);
    },
  };
}

/** Running turn that the test controls. */
export interface ManualTurn {
  readonly question: Question;
  readonly signal: AbortSignal;
  say(piece: string): void;
  answer(answer?: Answer): void;
  fail(error: Error): void;
}

/** Engine whose answers the test controls. */
export interface ManualEngine extends ScriptedEngine {
  /** Resolves with the next question in order. */
  next(): Promise<ManualTurn>;
}

/** Creates an engine whose answers the test controls. It stops when its turn is cancelled. */
export function createManualEngine(): ManualEngine {
  const turns: ManualTurn[] = [];
  const waiting: ((turn: ManualTurn) => void)[] = [];
  const engine = createScriptedEngine(
    (question, { signal, onText }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        const turn: ManualTurn = {
          question,
          signal,
          say: onText,
          answer: (answer = answerTo(question.text)) => resolve(answer),
          fail: reject,
        };
        const next = waiting.shift();
        if (next === undefined) turns.push(turn);
        else next(turn);
      }),
  );
  return Object.assign(engine, {
    next: () =>
      new Promise<ManualTurn>((resolve) => {
        const turn = turns.shift();
        if (turn === undefined) waiting.push(resolve);
        else resolve(turn);
      }),
  });
}
