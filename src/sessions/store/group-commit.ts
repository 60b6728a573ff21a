import { setTimeout } from 'node:timers/promises';
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

/** Transaction and callbacks for its end, which get `null` after a commit, otherwise the error. */
interface Group {
  readonly callbacks: ((error: unknown) => void)[];
  isDue: boolean;
  /** Whether the end of the transaction is already planned. */
  isDelayed: boolean;
}

export type GroupCommit = ReturnType<typeof createGroupCommit>;

/** Creates a queue that groups writes into transactions. All writes must use it. */
export function createGroupCommit(options: GroupCommitOptions) {
  const { watch } = options;
  const groups = createGroups(options);
  const run = <Value>(work: () => Value, urgency: Urgency): Promise<Value> =>
    new Promise((resolve, reject) => {
      const group = groups.join(urgency);
      try {
        const value = work();
        group.callbacks.push((failure) => (failure === null ? resolve(value) : reject(failure)));
      } catch (error) {
        group.callbacks.push((failure) => reject(failure ?? error));
        // The writes before a Problem, such as evictions, are complete, so the transaction can
        // continue.
        if (!(error instanceof Problem)) groups.abort(group, error);
      }
    });
  return {
    /**
     * Runs `work` in the shared transaction, and resolves when that is durable. If `work` throws a
     * Problem, only this promise rejects; any other error rolls back the whole transaction.
     */
    write: <Value>(work: () => Value, urgency: Urgency = 'now'): Promise<Value> => {
      const opening = groups.enter();
      return opening === null ? run(work, urgency) : opening.then(() => run(work, urgency));
    },
    /** Runs a query that sees only durable data. If a transaction is open, waits for its end. */
    read: <Value>(query: () => Value): Promise<Value> =>
      new Promise((resolve, reject) => {
        const run = () => {
          try {
            resolve(query());
          } catch (error) {
            reject(toStoreProblem(error, watch));
          }
        };
        const { open } = groups;
        if (open === null) return run();
        open.callbacks.push(run);
        groups.finishSoon(open);
      }),
    flush: (): void => {
      if (groups.open !== null) groups.finish(groups.open);
    },
  };
}

function createGroups(options: GroupCommitOptions) {
  const { database, onTurnEnd, onEnd, watch } = options;
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  let open: Group | null = null;
  const { openGroup, openIfFree, openLater } = createOpening(options, (group) => {
    open = group;
  });
  let opening: Promise<void> | null = null;
  const abort = (group: Group, cause: unknown): void => {
    open = null;
    if (database.inTransaction) rollback.run();
    onEnd(false);
    const error = toStoreProblem(cause, watch);
    for (const callback of group.callbacks) callback(error);
  };
  const finish = (group: Group): void => {
    if (open !== group) return;
    open = null;
    try {
      commit.run();
    } catch (error) {
      abort(group, error);
      return;
    }
    onEnd(true);
    for (const callback of group.callbacks) callback(null);
  };
  const finishSoon = (group: Group): void => {
    if (group.isDue) return;
    group.isDue = true;
    onTurnEnd(() => finish(group));
  };
  const finishLater = (group: Group, turns: number): void => {
    onTurnEnd(() => {
      if (turns <= 1) finish(group);
      else if (open === group && !group.isDue) finishLater(group, turns - 1);
    });
  };
  return {
    get open() {
      return open;
    },
    /** Returns `null` if `join` can be called now; otherwise a promise. Keeps the call order. */
    enter: (): Promise<void> | null => {
      if (open !== null || (opening === null && openIfFree())) return null;
      opening ??= openLater().finally(() => {
        opening = null;
      });
      return opening;
    },
    /** Returns the open transaction, or a new one. @throws Problem `not_ready` */
    join: (urgency: Urgency): Group => {
      const group = open ?? openGroup();
      if (urgency === 'now') finishSoon(group);
      else if (!group.isDelayed) finishLater(group, soonTurns);
      group.isDelayed = true;
      return group;
    },
    finishSoon,
    finish,
    abort,
  };
}

function createOpening({ database, watch }: GroupCommitOptions, set: (group: Group) => void) {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const open = (): Group => {
    begin.run();
    const group = { callbacks: [], isDue: false, isDelayed: false };
    set(group);
    return group;
  };
  const openIfFree = (): boolean => {
    try {
      open();
      return true;
    } catch (error) {
      return !errorCodeOf(error)?.startsWith('SQLITE_BUSY');
    }
  };
  return {
    openIfFree,
    /** @throws Problem `not_ready` */
    openGroup: (): Group => {
      try {
        return open();
      } catch (error) {
        throw toStoreProblem(error, watch);
      }
    },
    /** Resolves when the lock of the other process has ended, or after 200 attempts. */
    openLater: async (): Promise<void> => {
      let isFree = false;
      for (let tries = 0; tries < maxTries && !isFree; tries += 1) {
        await setTimeout(retryMs);
        isFree = openIfFree();
      }
    },
  };
}

/** Converts an SQLite error to the Problem `not_ready`. Returns any other error unchanged. */
export function toStoreProblem(cause: unknown, watch?: StoreWatch): unknown {
  if (!errorCodeOf(cause)?.startsWith('SQLITE_')) return cause;
  watch?.failed(cause);
  return new Problem('not_ready', { detail: 'The session store is unavailable.', cause });
}
