import { Worker } from 'node:worker_threads';
import { type Clock, createSteadyClock } from '../../lib/clock.ts';
import { entryPoint } from '../../lib/entry-point.ts';
import type { Answer, PromptPassage, Question } from '../answer.ts';
import type { RefreshSummary } from '../index/index-refresher.ts';
import type { RefreshProgress } from '../index/refresh.ts';
import type { AnswersOptions } from '../open-answers.ts';

export type Thread = Pick<Worker, 'on' | 'postMessage' | 'terminate'>;

/** Function that starts a thread. Throws if the system cannot create a thread. */
export type StartThread = (options: ThreadOptions) => Thread;

/** Maximum heap in MiB. A file that needs more crashes only the thread, not the process. */
const maxHeapMiB = 384;

export const startThread: StartThread = (options) => {
  const { url, execArgv } = entryPoint('thread', import.meta.url);
  return new Worker(url, {
    execArgv: [...execArgv],
    name: 'perch answers',
    workerData: options,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
  });
};

/** Options of a call. An aborted `signal` stops the task and rejects at once with its reason. */
export interface CallOptions<Kind extends TaskKind> {
  readonly signal?: AbortSignal;
  onReport?(report: ThreadTasks[Kind]['report']): void;
}

export interface ThreadClient {
  /** Runs a task. Rejects with ThreadError, ThreadEndedError or the signal's reason. */
  call<Kind extends TaskKind>(
    kind: Kind,
    input: ThreadTasks[Kind]['input'],
    options?: CallOptions<Kind>,
  ): Promise<ThreadTasks[Kind]['result']>;
  /** Asks the thread to close its index. Terminates the thread afterwards, or after a timeout. */
  close(): Promise<void>;
  kill(): void;
}

const closeTimeoutMs = 2000;

interface Pending {
  done(result: unknown): void;
  fail(reason: unknown): void;
  report(report: unknown): void;
}

/** Creates a client. Its promise `ended` resolves when the thread has ended. */
export function createThreadClient(thread: Thread, clock: Clock) {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let end: ThreadEndedError | null = null;
  const post = (request: ThreadRequest) => thread.postMessage(request);
  const ended = watchEnd(thread, (why) => {
    end = why;
    for (const { fail } of pending.values()) fail(why);
  });
  thread.on('message', (reply: ThreadReply) => {
    // A stopped task is no longer pending.
    const task = pending.get(reply.id);
    if (reply.kind === 'done') task?.done(reply.result);
    else if (reply.kind === 'failed') task?.fail(new ThreadError(reply.failure));
    else task?.report(reply.report);
  });
  const call: ThreadClient['call'] = async (kind, input, { signal, onReport } = {}) => {
    signal?.throwIfAborted();
    if (end !== null) throw end;
    lastId += 1;
    const id = lastId;
    const stop = () => {
      post({ kind: 'stop', id });
      pending.get(id)?.fail(signal?.reason);
    };
    try {
      return await new Promise((done, fail) => {
        const listener = onReport as ((report: unknown) => void) | undefined;
        const report = (value: unknown) => {
          try {
            listener?.(value);
          } catch (error) {
            fail(error);
          }
        };
        // Reports and result have the types of the task with this id.
        pending.set(id, { done: done as Pending['done'], fail, report });
        signal?.addEventListener('abort', stop, { once: true });
        post({ kind, id, input });
      });
    } finally {
      signal?.removeEventListener('abort', stop);
      pending.delete(id);
    }
  };
  const close = async () => {
    post({ kind: 'close' });
    const closed = new AbortController();
    await Promise.race([ended, Promise.allSettled([clock.sleep(closeTimeoutMs, closed.signal)])]);
    closed.abort();
    await thread.terminate();
  };
  return { call, close, ended, kill: () => void thread.terminate() };
}

function watchEnd(thread: Thread, onEnd: (why: ThreadEndedError) => void) {
  let code: string | null = null;
  thread.on('error', (error: Error & { readonly code?: string }) => {
    code = error.code ?? error.name;
  });
  return new Promise<ThreadEndedError>((resolve) => {
    thread.on('exit', () => {
      const why = new ThreadEndedError(code);
      onEnd(why);
      resolve(why);
    });
  });
}

interface RestartingThreadOptions {
  readonly threadOptions: ThreadOptions;
  readonly startThread: StartThread;
  readonly clock: Clock;
  /** Called after an unexpected end. The thread's data, such as an index in memory, is lost. */
  onLost(why: ThreadEndedError): void;
}

/** Backoff after repeated crashes, doubled with each crash up to `longest`. */
const restartMs = { first: 2000, longest: 60_000 } as const;

/** Creates a client that starts a thread on the first task, and again on the next if it ended. */
export function createRestartingThread(options: RestartingThreadOptions): ThreadClient {
  const { threadOptions, startThread: start, onLost } = options;
  const clock = createSteadyClock(options.clock);
  let client: ReturnType<typeof createThreadClient> | null = null;
  let isClosed = false;
  let ends = 0;
  let blockedUntilMs = 0;
  const handleEnd = (why: ThreadEndedError) => {
    if (isClosed) return;
    client = null;
    ends += 1;
    // A single crash may be an accident, so there is no backoff yet.
    if (ends > 1)
      blockedUntilMs = clock.now() + Math.min(restartMs.longest, restartMs.first * 2 ** (ends - 2));
    onLost(why);
  };
  const current = () => {
    if (client !== null) return client;
    if (isClosed || clock.now() < blockedUntilMs) throw new ThreadEndedError(null);
    client = createThreadClient(start(threadOptions), clock);
    void client.ended.then(handleEnd);
    return client;
  };
  return {
    call: async (kind, input, options) => {
      const result = await current().call(kind, input, options);
      ends = 0;
      return result;
    },
    kill: () => client?.kill(),
    close: async () => {
      isClosed = true;
      await client?.close();
    },
  };
}

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
