import type { Clock } from '../../core/clock.ts';
import {
  type TaskKind,
  ThreadEndedError,
  ThreadError,
  type ThreadOrder,
  type ThreadReport,
  type ThreadTasks,
} from './messages.ts';
import type { Thread } from './start-thread.ts';

/** What a task is given to a thread with. */
export interface Calling<Kind extends TaskKind> {
  /** Stops the task when it is aborted; the call throws the reason at once. */
  readonly signal?: AbortSignal;
  onTold?(told: ThreadTasks[Kind]['told']): void;
}

/** A running thread that carries out tasks. */
export interface ThreadClient {
  /** Rejects with ThreadError where the task fails, with ThreadEndedError, or with the signal's reason. */
  call<Kind extends TaskKind>(
    kind: Kind,
    give: ThreadTasks[Kind]['give'],
    calling?: Calling<Kind>,
  ): Promise<ThreadTasks[Kind]['get']>;
  /** Resolves when the thread has ended, for whatever reason. */
  readonly ended: Promise<ThreadEndedError>;
  /** Asks the thread to close what it has open, and ends it where that takes too long. */
  close(): Promise<void>;
  /** Ends the thread now, whatever it does. */
  kill(): void;
}

/** How long a thread may take to close what it has open. */
const closingMs = 2000;

interface Pending {
  done(get: unknown): void;
  fail(reason: unknown): void;
  told(told: unknown): void;
}

/** Gives tasks to a thread and listens to what it tells of them. Close it with `close()`. */
export function createThreadClient(thread: Thread, clock: Clock): ThreadClient {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  const post = (order: ThreadOrder) => thread.postMessage(order);
  let end: ThreadEndedError | null = null;
  const ended = whenEnded(thread, (why) => {
    end = why;
    for (const { fail } of pending.values()) fail(why);
  });
  thread.on('message', (report: ThreadReport) => hear(report, pending));
  return {
    ended,
    call: async (kind, give, { signal, onTold = () => {} } = {}) => {
      signal?.throwIfAborted();
      if (end !== null) throw end;
      lastId += 1;
      const id = lastId;
      const stop = () => {
        post({ kind: 'stop', id });
        pending.get(id)?.fail(signal?.reason);
      };
      try {
        return await new Promise((resolve, reject) => {
          pending.set(id, {
            // The type of what comes back is that of the task that was sent with this id.
            done: resolve as (get: unknown) => void,
            fail: reject,
            told: onTold as (told: unknown) => void,
          });
          signal?.addEventListener('abort', stop, { once: true });
          post({ kind, id, give } as ThreadOrder);
        });
      } finally {
        signal?.removeEventListener('abort', stop);
        pending.delete(id);
      }
    },
    close: async () => {
      post({ kind: 'close' });
      const over = new AbortController();
      const late = clock.sleep(closingMs, over.signal).catch(() => {
        // It has closed in time.
      });
      await Promise.race([ended, late]);
      over.abort();
      await thread.terminate();
    },
    kill: () => void thread.terminate(),
  };
}

function hear(report: ThreadReport, pending: ReadonlyMap<number, Pending>): void {
  // A task that was stopped is no longer waited for.
  const task = pending.get(report.id);
  if (report.kind === 'done') task?.done(report.get);
  else if (report.kind === 'failed') task?.fail(new ThreadError(report.fault));
  else {
    try {
      task?.told(report.told);
    } catch (error) {
      task?.fail(error);
    }
  }
}

function whenEnded(
  thread: Thread,
  onEnd: (why: ThreadEndedError) => void,
): Promise<ThreadEndedError> {
  let code: string | null = null;
  return new Promise((resolve) => {
    thread.on('error', (error: Error & { readonly code?: string }) => {
      code = error.code ?? error.name;
    });
    thread.on('exit', () => {
      const why = new ThreadEndedError(code);
      onEnd(why);
      resolve(why);
    });
  });
}
