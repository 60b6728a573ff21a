import type { Clock } from '../lib/clock.ts';
import { redactKeys } from '../lib/redact.ts';
import type { Answer, AnswerEngine, Fallback } from './answer.ts';

export interface DeclinedQuestion {
  /** Text of the question on one line, cut to 300 characters, without API keys. */
  readonly text: string;
  /** Count since the question entered the list. Dropping out of the list resets it. */
  readonly times: number;
  /** Time at which the question was last declined, in epoch milliseconds. */
  readonly atMs: number;
}

export type QuestionRecord = ReturnType<typeof createQuestionRecord>;

interface QuestionRecordOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Maximum number of declined questions in memory. If 0, they are only counted. */
  readonly keep: number;
}

const maxCharacters = 300;

/** Last failure of the language model, with its time in epoch milliseconds. */
export type LastFallback = Pick<Fallback, 'message'> & { readonly atMs: number };

/** Creates counters of questions. Keeps the last `keep` declined questions in memory. */
export function createQuestionRecord({ clock, keep }: QuestionRecordOptions) {
  const counts = { answered: 0, declined: 0, fallbacks: 0 };
  let lastFallback: LastFallback | null = null;
  // Ordered by `atMs`. The question that was declined the longest time ago is removed first.
  const kept = new Map<string, DeclinedQuestion>();
  const keepQuestion = (question: string): void => {
    const text = toKeptText(question);
    const times = (kept.get(text)?.times ?? 0) + 1;
    kept.delete(text);
    kept.set(text, { text, times, atMs: clock.now() });
    const [oldest] = kept.keys();
    if (kept.size > keep && oldest !== undefined) kept.delete(oldest);
  };
  const count = ({ abstained, fallback }: Answer, question: string): void => {
    counts[abstained ? 'declined' : 'answered'] += 1;
    if (abstained && keep > 0) keepQuestion(question);
    if (fallback === undefined) return;
    counts.fallbacks += 1;
    lastFallback = { message: fallback.message, atMs: clock.now() };
  };
  return {
    /** Wraps an engine to count its answers. Failed and cancelled questions do not count. */
    watch: (engine: AnswerEngine): AnswerEngine => ({
      get modelId() {
        return engine.modelId;
      },
      get isReady() {
        return engine.isReady;
      },
      answer: async (question, call) => {
        const answer = await engine.answer(question, call);
        count(answer, question.text);
        return answer;
      },
    }),
    /** Counts since the process started. `fallbacks`: not completely answered by the model. */
    counts: counts as Readonly<typeof counts>,
    get lastFallback() {
      return lastFallback;
    },
    keep,
    /** Returns the declined questions in memory, most recent first. */
    listDeclined: (): readonly DeclinedQuestion[] => [...kept.values()].reverse(),
  };
}

function toKeptText(question: string): string {
  // A code point has up to two code units, so this slice contains more than enough of them.
  const line = redactKeys(question.slice(0, 8 * maxCharacters))
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  const characters = [...line];
  if (characters.length <= maxCharacters) return line;
  return `${characters.slice(0, maxCharacters - 1).join('')}…`;
}
