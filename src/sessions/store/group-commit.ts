import { errorCodeOf, type SqliteDatabase } from '../../core/files/sqlite.ts';
import { Problem } from '../../core/problem.ts';
import type { StoreWatch } from './store-faults.ts';

type Urgency = 'now' | 'soon';

const soonTurns = 8; // number of event loop iterations after which `soon` work is committed

/** Milliseconds between two attempts to write to a file that another process has locked. */
const retryMs = 25;
const maxTries = 200;

interface GroupCommitOptions {
  readonly database: SqliteDatabase;
  readonly onTurnEnd: (callback: () => void) => void;
  /** Called when a transaction is committed or rolled back, before its promises settle. */
  readonly onEnd: (isCommitted: boolean) => void;
  readonly watch?: StoreWatch | undefined;
}

/** Work of the next transaction. `settle` gets `null` after a commit, otherwise the error. */
interface Work {
  run(): void;
  settle(failure: unknown): void;
}

export type GroupCommit = ReturnType<typeof createGroupCommit>;

/** Creates a queue that runs the writes of one event loop iteration in one transaction. */
export function createGroupCommit({ database, onTurnEnd, onEnd, watch }: GroupCommitOptions) {
  const transact = database.transaction((works: readonly Work[]) => {
    for (const { run } of works) run();
  });
  let queue: Work[] = [];
  let isDue = false;
  let tries = 0; // failed attempts to begin because another process has locked the file
  const end = (failure: unknown): void => {
    const works = queue;
    [queue, isDue, tries] = [[], false, 0];
    onEnd(failure === null);
    for (const { settle } of works) settle(failure);
  };
  const flush = (): void => {
    try {
      if (queue.length > 0) transact.immediate(queue);
    } catch (error) {
      tries += 1;
      const isLocked = errorCodeOf(error)?.startsWith('SQLITE_BUSY') && tries <= maxTries;
      if (isLocked) setTimeout(flush, retryMs);
      else end(toStoreProblem(error, watch));
      return;
    }
    if (queue.length > 0) end(null);
  };
  const flushAfter = (turns: number, works: readonly Work[]): void =>
    onTurnEnd(() => {
      if (works !== queue || tries > 0) return;
      if (turns > 1) flushAfter(turns - 1, works);
      else flush();
    });
  const add = (work: Work, urgency: Urgency): void => {
    queue.push(work);
    if (urgency === 'now' && !isDue) {
      isDue = true;
      flushAfter(1, queue);
    } else if (queue.length === 1) flushAfter(soonTurns, queue);
  };
  return {
    /**
     * Runs `work` in the next transaction, and resolves when that is durable. If `work` throws a
     * Problem, only this promise rejects, and its writes before that, such as evictions, stay. Any
     * other error rolls back the whole transaction.
     */
    write: <Value>(work: () => Value, urgency: Urgency = 'now'): Promise<Value> =>
      new Promise((resolve, reject) => add(toWrite(work, resolve, reject), urgency)),
    /** Runs a query after the waiting writes, or immediately if the file is locked. */
    read: <Value>(query: () => Value): Promise<Value> =>
      new Promise((resolve, reject) => {
        const settle = () => {
          try {
            resolve(query());
          } catch (error) {
            reject(toStoreProblem(error, watch));
          }
        };
        if (queue.length === 0 || tries > 0) settle();
        else add({ run: () => {}, settle }, 'now');
      }),
    flush,
  };
}

function toWrite<Value>(
  work: () => Value,
  resolve: (value: Value) => void,
  reject: (error: unknown) => void,
): Work {
  let answer = () => {};
  return {
    run: () => {
      try {
        const value = work();
        answer = () => resolve(value);
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        answer = () => reject(error);
      }
    },
    settle: (failure) => (failure === null ? answer() : reject(failure)),
  };
}

/** Converts an SQLite error to the Problem `not_ready`. Returns any other error unchanged. */
export function toStoreProblem(cause: unknown, watch?: StoreWatch): unknown {
  if (!errorCodeOf(cause)?.startsWith('SQLITE_')) return cause;
  watch?.failed(cause);
  return new Problem('not_ready', { detail: 'The session store is unavailable.', cause });
}
