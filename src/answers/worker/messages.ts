import type { Answer, GivenPassage, Question } from '../answer.ts';
import type { RefreshSummary } from '../index/keep-current.ts';
import type { RefreshProgress } from '../index/refresh.ts';
import type { AnswersOptions } from '../open-answers.ts';

/** Corpora and index file of a thread. An index in `:memory:` is its own. */
export type ThreadSetting = Pick<AnswersOptions, 'corpora' | 'path'>;

/** A task of a thread: its argument, what it reports meanwhile, and its result. */
type Task<Give, Told, Get> = Readonly<{ give: Give; told: Told; get: Get }>;

/** The tasks of a thread. */
export interface ThreadTasks {
  /** Opens the index; returns whether an earlier process built it for these corpora. */
  readonly open: Task<null, never, boolean>;
  /** Refreshes the index. Files in `passOver` are kept without their text, because reading them ended a thread. */
  readonly refresh: Task<RefreshGive, RefreshTold, Omit<RefreshSummary, 'ms'>>;
  /** Answers, and reports pieces of the text in order. */
  readonly answer: Task<Question, string, Answer>;
  readonly find: Task<Question, never, readonly GivenPassage[]>;
  readonly isCurrent: Task<GivenPassage, never, boolean>;
}

type RefreshGive = Readonly<{ passOver: readonly string[] }>;

/** Report of a refresh: a folder or a file that it is about to read, or its progress. */
export type RefreshTold =
  | { readonly kind: 'folder' | 'reading'; readonly absolute: string }
  | { readonly kind: 'progress'; readonly progress: RefreshProgress };

export type TaskKind = keyof ThreadTasks;

/** A message to a thread: a task, with the argument of its kind, or its end. After `close` the thread ends. */
export type ThreadOrder =
  | { readonly kind: TaskKind; readonly id: number; readonly give: unknown }
  | { readonly kind: 'stop'; readonly id: number }
  | { readonly kind: 'close' };

/** A message from a thread about a task: any number of `told`, then one of the others. */
export type ThreadReport =
  | { readonly kind: 'told'; readonly id: number; readonly told: unknown }
  | { readonly kind: 'done'; readonly id: number; readonly get: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly fault: ThreadFault };

/** The part of an error that crosses threads, never text that was read. `code` is that of SQLite or of the system. */
type ThreadFault = Readonly<{ message: string; code: string | null }>;

/** Returns what may cross of an error. A parser's message may quote what it could not parse. */
export function toFault(error: unknown): ThreadFault {
  if (!(error instanceof Error)) return { message: 'Something was thrown.', code: null };
  const { name, message } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  const isOurs = code !== null || error.constructor === Error || error instanceof TypeError;
  return { message: isOurs ? message : `${name} in a thread of the answers`, code };
}

/** A task that failed in its thread. */
export class ThreadError extends Error {
  readonly code: string | null;

  constructor({ message, code }: ThreadFault) {
    super(message);
    this.code = code;
  }
}

/** A thread that ended before its task. `code` says why, if Node knows. */
export class ThreadEndedError extends Error {
  readonly code: string | null;

  constructor(code: string | null) {
    super('A thread of the answers has ended.');
    this.code = code;
  }
}
