import { Worker } from 'node:worker_threads';
import type { Clock } from '../../core/clock.ts';
import {
  type TaskKind,
  ThreadEndedError,
  ThreadError,
  type ThreadOrder,
  type ThreadReport,
  type ThreadSetting,
  type ThreadTasks,
} from './messages.ts';

/** The part of a `Worker` that is used here. */
export type Thread = Pick<Worker, 'on' | 'postMessage' | 'terminate'>;

/** Starts a thread; throws if the system has none left. */
export type StartThread = (setting: ThreadSetting) => Thread;

/** Maximum heap of a thread. A file that needs more to be parsed ends its thread, not the process. */
const maxHeapMiB = 384;

/** Starts a worker thread. */
export const startThread: StartThread = (setting) =>
  new Worker(new URL(isSource() ? './thread.ts' : './thread.js', import.meta.url), {
    ...(isSource() ? { execArgv: ['--import', toLoader()] } : {}),
    name: 'perch answers',
    workerData: setting,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMiB },
  });

const isSource = () => import.meta.url.endsWith('.ts');

/** Node 20 reads no TypeScript, and a thread does not inherit the loader that its process has. */
function toLoader(): string {
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const register = `import { register } from ${loader}; register();`;
  return `data:text/javascript,${encodeURIComponent(register)}`;
}

/** Stops a task when its signal is aborted; the call throws the reason at once. `onTold` gets its reports. */
export interface Calling<Kind extends TaskKind> {
  readonly signal?: AbortSignal;
  onTold?(told: ThreadTasks[Kind]['told']): void;
}

/** A thread that runs tasks. */
export interface ThreadClient {
  /** Rejects with ThreadError if the task fails, with ThreadEndedError, or with the signal's reason. */
  call<Kind extends TaskKind>(
    kind: Kind,
    give: ThreadTasks[Kind]['give'],
    calling?: Calling<Kind>,
  ): Promise<ThreadTasks[Kind]['get']>;
  /** Asks the thread to close what it has open, and ends it if that takes too long. */
  close(): Promise<void>;
  kill(): void;
}

/** Maximum time that a thread takes to close what it has open. */
const closingMs = 2000;

interface Pending {
  done(get: unknown): void;
  fail(reason: unknown): void;
  told(told: unknown): void;
}

/** Creates the client of a running thread; `ended` resolves when the thread has ended. */
export function createThreadClient(thread: Thread, clock: Clock) {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let end: ThreadEndedError | null = null;
  const post = (order: ThreadOrder) => thread.postMessage(order);
  const ended = whenEnded(thread, (why) => {
    end = why;
    for (const { fail } of pending.values()) fail(why);
  });
  thread.on('message', (report: ThreadReport) => {
    // A task that was stopped is no longer pending.
    const task = pending.get(report.id);
    if (report.kind === 'done') task?.done(report.get);
    else if (report.kind === 'failed') task?.fail(new ThreadError(report.fault));
    else task?.told(report.told);
  });
  const call: ThreadClient['call'] = async (kind, give, { signal, onTold } = {}) => {
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
        const tell = onTold as ((told: unknown) => void) | undefined;
        const told = (news: unknown) => {
          try {
            tell?.(news);
          } catch (error) {
            fail(error);
          }
        };
        // Reports and result have the types of the task that was sent with this id.
        pending.set(id, { done: done as Pending['done'], fail, told });
        signal?.addEventListener('abort', stop, { once: true });
        post({ kind, id, give });
      });
    } finally {
      signal?.removeEventListener('abort', stop);
      pending.delete(id);
    }
  };
  const close = async () => {
    post({ kind: 'close' });
    const over = new AbortController();
    await Promise.race([ended, Promise.allSettled([clock.sleep(closingMs, over.signal)])]);
    over.abort();
    await thread.terminate();
  };
  return { call, close, ended, kill: () => void thread.terminate() };
}

function whenEnded(thread: Thread, onEnd: (why: ThreadEndedError) => void) {
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

interface LastingThreadOptions {
  readonly setting: ThreadSetting;
  readonly startThread: StartThread;
  readonly clock: Clock;
  /** Called when the thread has ended by itself, and all that it knew with it. */
  onLost(why: ThreadEndedError): void;
}

/** After the first end, a thread is started again with the next task; after further ones, not at once. */
const restartMs = { first: 500, longest: 60_000 } as const;

/** Creates a thread that is started for its first task, and again after it has ended. Close it with `close()`. */
export function createLastingThread(options: LastingThreadOptions): ThreadClient {
  const { setting, startThread: start, clock, onLost } = options;
  let client: ReturnType<typeof createThreadClient> | null = null;
  let isClosed = false;
  let ends = 0;
  let restMs = 0;
  const lose = (why: ThreadEndedError) => {
    if (isClosed) return;
    client = null;
    ends += 1;
    // The first end may be an accident.
    if (ends > 1) restMs = clock.now() + Math.min(restartMs.longest, restartMs.first * 2 ** ends);
    onLost(why);
  };
  const current = () => {
    if (client !== null) return client;
    if (isClosed || clock.now() < restMs) throw new ThreadEndedError(null);
    client = createThreadClient(start(setting), clock);
    void client.ended.then(lose);
    return client;
  };
  return {
    call: async (kind, give, calling) => {
      const get = await current().call(kind, give, calling);
      ends = 0;
      return get;
    },
    kill: () => client?.kill(),
    close: async () => {
      isClosed = true;
      await client?.close();
    },
  };
}
