import type { Answer, GivenPassage, Question } from '../answer.ts';
import type { Corpus } from '../corpus/corpus.ts';
import type { RefreshSummary } from '../index/keep-current.ts';
import type { RefreshProgress } from '../index/refresh.ts';

/** What a thread is started with. */
export interface ThreadSetting {
  readonly corpora: readonly Corpus[];
  /** The file of the index, or `:memory:` for one of its own. */
  readonly path: string;
}

/** What a thread can be asked for: what it is given, what it tells meanwhile, and what it gives. */
export interface ThreadTasks {
  /** Opens the index; gives whether it has been built for these corpora before. */
  readonly open: { readonly give: null; readonly told: never; readonly get: boolean };
  readonly refresh: {
    /** Files to be kept without their text, because their reader was the end of a thread. */
    readonly give: { readonly passOver: readonly string[] };
    readonly told: RefreshTold;
    readonly get: Omit<RefreshSummary, 'ms'>;
  };
  /** Pieces of the text are told in order. */
  readonly answer: { readonly give: Question; readonly told: string; readonly get: Answer };
  /** The passages that a language model is given. */
  readonly find: {
    readonly give: Question;
    readonly told: never;
    readonly get: readonly GivenPassage[];
  };
  /** Whether a passage still stands in the index. */
  readonly isCurrent: { readonly give: GivenPassage; readonly told: never; readonly get: boolean };
}

/** What a refresh tells: a folder that it looks into, a file that it is about to read, how far it is. */
export type RefreshTold =
  | { readonly kind: 'folder'; readonly absolute: string }
  | { readonly kind: 'reading'; readonly absolute: string }
  | { readonly kind: 'progress'; readonly progress: RefreshProgress };

/** The name of a task. */
export type TaskKind = keyof ThreadTasks;

/** A task on its way to a thread, of one kind or of any. */
export type TaskOrder<Kind extends TaskKind = TaskKind> = {
  readonly [One in Kind]: {
    readonly kind: One;
    readonly id: number;
    readonly give: ThreadTasks[One]['give'];
  };
}[Kind];

/** What is sent to a thread. After `close` it ends. */
export type ThreadOrder =
  | TaskOrder
  | { readonly kind: 'stop'; readonly id: number }
  | { readonly kind: 'close' };

/** What a thread sends of a task: any number of `told`, then one of the others. */
export type ThreadReport =
  | { readonly kind: 'told'; readonly id: number; readonly told: unknown }
  | { readonly kind: 'done'; readonly id: number; readonly get: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly fault: ThreadFault };

/** What is told of an error; never a text that was read. */
export interface ThreadFault {
  readonly message: string;
  readonly code: string | null;
}

/** Gives what may be told of an error. A parser's message may quote what it could not parse. */
export function toFault(error: unknown): ThreadFault {
  if (!(error instanceof Error)) return { message: 'Something was thrown.', code: null };
  const { name, message } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null;
  const isOurs = code !== null || error.constructor === Error || error instanceof TypeError;
  return { message: isOurs ? message : `${name} in a thread of the answers`, code };
}

/** A task that went wrong in its thread. `code` is that of SQLite or of the system. */
export class ThreadError extends Error {
  readonly code: string | null;

  constructor({ message, code }: ThreadFault) {
    super(message);
    this.code = code;
  }
}

/** A thread that has ended before its task. `code` says why, where Node knows. */
export class ThreadEndedError extends Error {
  readonly code: string | null;

  constructor(code: string | null) {
    super('A thread of the answers has ended.');
    this.code = code;
  }
}
