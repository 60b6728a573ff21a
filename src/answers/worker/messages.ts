import type { Answer, PromptPassage, Question } from '../answer.ts';
import type { RefreshSummary } from '../index/index-refresher.ts';
import type { RefreshProgress } from '../index/refresh.ts';
import type { AnswersOptions } from '../open-answers.ts';

/**
 * Document folders and index file of a worker thread. An index in `:memory:` can be used by one
 * thread only.
 */
export type ThreadOptions = Pick<AnswersOptions, 'corpora' | 'path'>;

type Task<Input, Report, Result> = Readonly<{ input: Input; report: Report; result: Result }>;

export interface ThreadTasks {
  /**
   * Task that opens the index. The result is `true` if the index is already built for the
   * configured document folders.
   */
  readonly open: Task<null, never, boolean>;
  /**
   * Task that updates the index. Files in `skip` are indexed without text, because reading them
   * crashed a thread before.
   */
  readonly refresh: Task<RefreshInput, RefreshReport, Omit<RefreshSummary, 'ms'>>;
  /**
   * Task that answers a question. While it runs, the thread reports the parts of the answer's text
   * in order.
   */
  readonly answer: Task<Question, string, Answer>;
  readonly find: Task<Question, never, readonly PromptPassage[]>;
  readonly isCurrent: Task<PromptPassage, never, boolean>;
}

type RefreshInput = Readonly<{ skip: readonly string[] }>;

/** Report about an index update: the next folder or file to read, or the progress. */
export type RefreshReport =
  | { readonly kind: 'folder' | 'reading'; readonly absolute: string }
  | { readonly kind: 'progress'; readonly progress: RefreshProgress };

export type TaskKind = keyof ThreadTasks;

export type ThreadRequest =
  | { readonly kind: TaskKind; readonly id: number; readonly input: unknown }
  | { readonly kind: 'stop'; readonly id: number }
  | { readonly kind: 'close' };

/** Message from a worker thread about a task: any number of reports, then `done` or `failed`. */
export type ThreadReply =
  | { readonly kind: 'report'; readonly id: number; readonly report: unknown }
  | { readonly kind: 'done'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: ThreadFailure };

type ThreadFailure = Readonly<{ message: string; code: string | null }>;

/**
 * Converts an error to an object that can be sent between threads. Keeps the message only if the
 * error is a plain `Error` or a `TypeError`, or has a `code`. The message of another error, such as
 * a parser's, may quote an indexed file.
 */
export function toFailure(error: unknown): ThreadFailure {
  if (!(error instanceof Error))
    return { message: 'A value was thrown that is not an error.', code: null };
  const { name, message } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  const isOurs = code !== null || error.constructor === Error || error instanceof TypeError;
  return { message: isOurs ? message : `${name} in a worker thread of the answer engine.`, code };
}

/** Error of a task that failed in a worker thread. */
export class ThreadError extends Error {
  readonly code: string | null;

  constructor({ message, code }: ThreadFailure) {
    super(message);
    this.code = code;
  }
}

/**
 * Error of a task whose thread ended before the task did. `code` is the error code from Node.js, or
 * `null`.
 */
export class ThreadEndedError extends Error {
  readonly code: string | null;

  constructor(code: string | null) {
    super('A worker thread of the answer engine has ended.');
    this.code = code;
  }
}
