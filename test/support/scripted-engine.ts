import type {
  Answer,
  AnswerEngine,
  EngineCallOptions,
  Question,
} from '../../src/answers/answer.ts';

/** An engine of tests: it answers as a script says, and remembers what it was asked. */
export interface ScriptedEngine extends AnswerEngine {
  isReady: boolean;
  readonly asked: readonly Question[];
}

/** Gives an answer whose text says which question it answers. */
export function answerTo(text: string, given: Partial<Answer> = {}): Answer {
  return {
    text: `The answer to “${text}”.`,
    citations: [{ path: 'docs/start.md', heading: 'Start', line: 1, endLine: 3, score: 0.9 }],
    abstained: false,
    finishReason: 'stop',
    ...given,
  };
}

/** What an engine does with a question. */
export type Script = (question: Question, call: EngineCallOptions) => Promise<Answer>;

/** Creates an engine; by default it answers at once, without pieces. */
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

/** A turn that an engine is at, in the hands of the test. */
export interface HeldTurn {
  readonly question: Question;
  readonly signal: AbortSignal;
  say(piece: string): void;
  answer(answer?: Answer): void;
  fail(error: Error): void;
}

/** An engine that answers nothing by itself. */
export interface HeldEngine extends ScriptedEngine {
  /** Resolves with the next question that comes, in their order. */
  next(): Promise<HeldTurn>;
}

/** Creates an engine whose answers are in the hands of the test. It stops when its turn is cancelled. */
export function createHeldEngine(): HeldEngine {
  const turns: HeldTurn[] = [];
  const waiting: ((turn: HeldTurn) => void)[] = [];
  const engine = createScriptedEngine(
    (question, { signal, onText }) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        const turn: HeldTurn = {
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
      new Promise<HeldTurn>((resolve) => {
        const turn = turns.shift();
        if (turn === undefined) waiting.push(resolve);
        else resolve(turn);
      }),
  });
}
