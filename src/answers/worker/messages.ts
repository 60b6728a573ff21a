import type { Answer, PromptPassage, Question } from '../answer.ts';
import type { RefreshSummary } from '../index/index-refresher.ts';
import type { RefreshProgress } from '../index/refresh.ts';
import type { AnswersOptions } from '../open-answers.ts';

/** Document folders and index of a thread. Only one thread can use an index in `:memory:`. */
export type ThreadOptions = Pick<AnswersOptions, 'corpora' | 'path'>;

type Task<Input, Report, Result> = Readonly<{ input: Input; report: Report; result: Result }>;

export interface ThreadTasks {
  /** Task that opens the index. Result: whether it is built for the configured folders. */
  readonly open: Task<null, never, boolean>;
  /** Task that updates the index. Files in `skip` get no text: they crashed a thread before. */
  readonly refresh: Task<RefreshInput, RefreshReport, Omit<RefreshSummary, 'ms'>>;
  /** Task that answers a question and reports the parts of the text in order. */
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

/** Converts an error for sending. Omits messages that may quote a file, such as a parser's. */
export function toFailure(error: unknown): ThreadFailure {
  if (!(error instanceof Error))
    return { message: 'A value was thrown that is not an error.', code: null };
  const { name, message } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  const isOurs = code !== null || error.constructor === Error || error instanceof TypeError;
  return { message: isOurs ? message : `${name} in a worker thread of the answer engine.`, code };
}

export class ThreadError extends Error {
  readonly code: string | null;

  constructor({ message, code }: ThreadFailure) {
    super(message);
    this.code = code;
  }
}

/** Error of a task whose thread ended first. `code`: error code from Node.js, or `null`. */
export class ThreadEndedError extends Error {
  readonly code: string | null;

  constructor(code: string | null) {
    super('A worker thread of the answer engine has ended.');
    this.code = code;
  }
}
