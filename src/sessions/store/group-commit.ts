import { errorCodeOf, type SqliteDatabase } from '../../lib/files/sqlite.ts';
import { Problem } from '../../lib/problem.ts';
import { type StoreWatch, toStoreProblem, toUnavailable } from './store-faults.ts';

/** Milliseconds between two attempts to write to a file that another process has locked. */
const retryMs = 25;
const maxTries = 200;

interface GroupCommitOptions {
  readonly database: SqliteDatabase;
  readonly onTurnEnd: (callback: () => void) => void;
  /** Resolves when the committed transactions are on disk. */
  readonly sync: () => Promise<void>;
  /** Called when a transaction is on disk or has failed, before callers of `write` continue. */
  readonly onEnd: (isDurable: boolean) => void;
  readonly watch?: StoreWatch | undefined;
}

/** Work of a transaction. `settle` gets `null` when that is on disk, otherwise the error. */
interface Work {
  run(): void;
  settle(failure: unknown): void;
}

export type GroupCommit = ReturnType<typeof createGroupCommit>;

/**
 * Creates a queue that runs the writes of one event loop iteration in one transaction. While the
 * disk is busy with a transaction, further writes wait for the next one.
 */
export function createGroupCommit(options: GroupCommitOptions) {
  const { database, onTurnEnd, sync, onEnd, watch } = options;
  const transact = database.transaction((works: readonly Work[]) => {
    for (const { run } of works) run();
  });
  let queue: Work[] = [];
  let committed: Work[] = []; // works of the transaction that is not on disk yet
  let syncing: Promise<void> | null = null;
  let tries = 0; // failed attempts to begin because another process has locked the file
  const end = (works: readonly Work[], failure: unknown): void => {
    [committed, syncing] = [[], null];
    for (const { settle } of works) settle(failure);
    onEnd(failure === null);
    if (queue.length > 0) onTurnEnd(flush);
  };
  const flush = (): void => {
    if (queue.length === 0 || syncing !== null) return;
    const failure = findFailure(() => transact.immediate(queue));
    const isLocked = errorCodeOf(failure)?.startsWith('SQLITE_BUSY') && tries < maxTries;
    if (isLocked) {
      tries += 1;
      setTimeout(flush, retryMs);
      return;
    }
    const works = queue;
    [queue, committed, tries] = [[], works, 0];
    const fail = (error: unknown) => end(works, toUnavailable(error, watch));
    if (failure !== null) end(works, toStoreProblem(failure, watch));
    else syncing = sync().then(() => end(works, null), fail);
  };
  return {
    /**
     * Runs `work` in the next transaction, and resolves when that is durable. If `work` throws a
     * Problem, only this promise rejects, and its writes before that, such as evictions, stay. Any
     * other error rolls back the whole transaction.
     */
    write: <Value>(work: () => Value): Promise<Value> =>
      new Promise((resolve, reject) => {
        let answer = () => {};
        const run = () => {
          try {
            const value = work();
            answer = () => resolve(value);
          } catch (error) {
            if (!(error instanceof Problem)) throw error;
            answer = () => reject(error);
          }
        };
        const settle = (failure: unknown) => (failure === null ? answer() : reject(failure));
        queue.push({ run, settle });
        if (queue.length === 1) onTurnEnd(flush);
      }),
    /** Runs a query when the writes before it are durable, or immediately if the file is locked. */
    read: <Value>(query: () => Value): Promise<Value> =>
      new Promise((resolve) => {
        const fail = (error: unknown) => Promise.reject(toStoreProblem(error, watch));
        const settle = () => resolve(new Promise<Value>((done) => done(query())).catch(fail));
        const before = queue.length > 0 ? queue : committed;
        if (before.length === 0 || tries > 0) settle();
        else before.push({ run: () => {}, settle });
      }),
    /** Runs the waiting writes. Resolves when they are durable or have failed. */
    drain: async (): Promise<void> => {
      for (flush(); syncing !== null; flush()) await syncing;
    },
  };
}

function findFailure(run: () => void): unknown {
  try {
    run();
    return null;
  } catch (error) {
    return error;
  }
}
