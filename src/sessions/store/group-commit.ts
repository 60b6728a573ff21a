import { errorCodeOf, type SqliteDatabase } from '../../core/files/sqlite.ts';
import { Problem } from '../../core/problem.ts';

/**
 * When work is to be committed: at the end of this turn of the event loop, or some turns later, so that
 * more of it shares a commit. An idle process takes no time for such turns, a busy one does.
 */
export type Urgency = 'now' | 'soon';

/** How many turns of the event loop work waits for others that is to be committed soon. */
const soonTurns = 8;

/** Makes transactions share commits. */
export interface GroupCommit {
  /**
   * Runs work with the others of this turn of the event loop, in order, and resolves when all of them
   * are durable. A Problem that the work throws before it writes rejects it alone; whatever else
   * fails undoes all of the group.
   */
  write<Value>(work: () => Value, urgency?: Urgency): Promise<Value>;
  /** Runs a query on what is durable: now, or as soon as the group that is open is committed, which is at once. */
  read<Value>(query: () => Value): Promise<Value>;
  /** Commits the group that is open. */
  flush(): void;
}

/** What a group needs. */
export interface GroupCommitOptions {
  readonly database: SqliteDatabase;
  /** Calls back when this turn of the event loop has ended. */
  readonly onTurnEnd: (callback: () => void) => void;
  /** Is called after each commit, before anybody whose work it holds goes on. */
  readonly onCommitted: () => void;
  /** Is called where the group was undone. */
  readonly onUndone: () => void;
}

/** Told once the fate of its group is known: null for committed. */
type Settle = (fault: unknown) => void;

/** A transaction that is open, with those who wait for its end. */
interface Group {
  readonly settle: Settle[];
  /** Whether it is committed at the end of this turn. */
  isDue: boolean;
}

/** Creates the sharing of commits on a database that nobody else in this process writes to. */
export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const groups = createGroups(options);
  return {
    write: (work, urgency = 'now') =>
      new Promise((resolve, reject) => {
        const group = groups.join(urgency);
        try {
          const value = work();
          group.settle.push((fault) => (fault === null ? resolve(value) : reject(fault)));
        } catch (error) {
          group.settle.push((fault) => reject(fault ?? error));
          // A Problem is a decision, made before anything was written.
          if (!(error instanceof Problem)) groups.undo(group, error);
        }
      }),
    read: (query) =>
      new Promise((resolve, reject) => {
        const run = () => {
          try {
            resolve(query());
          } catch (error) {
            reject(toStoreProblem(error));
          }
        };
        // What has not been committed is not shown to anybody.
        const { open } = groups;
        if (open === null) {
          run();
          return;
        }
        open.settle.push(run);
        groups.hasten(open);
      }),
    flush: () => {
      if (groups.open !== null) groups.finish(groups.open);
    },
  };
}

function createGroups({ database, onTurnEnd, onCommitted, onUndone }: GroupCommitOptions) {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  let open: Group | null = null;

  const undo = (group: Group, cause: unknown): void => {
    open = null;
    if (database.inTransaction) rollback.run();
    onUndone();
    const fault = toStoreProblem(cause);
    for (const settle of group.settle) settle(fault);
  };
  const finish = (group: Group): void => {
    if (open !== group) return;
    open = null;
    try {
      commit.run();
    } catch (error) {
      undo(group, error);
      return;
    }
    onCommitted();
    for (const settle of group.settle) settle(null);
  };
  const hasten = (group: Group): void => {
    if (group.isDue) return;
    group.isDue = true;
    onTurnEnd(() => finish(group));
  };
  const linger = (group: Group, turns: number): void => {
    onTurnEnd(() => {
      if (turns <= 1) finish(group);
      else if (open === group && !group.isDue) linger(group, turns - 1);
    });
  };
  const join = (urgency: Urgency): Group => {
    const group = open ?? start();
    if (urgency === 'now') hasten(group);
    else if (group !== open) linger(group, soonTurns);
    open = group;
    return group;
  };
  const start = (): Group => {
    try {
      begin.run();
    } catch (error) {
      throw toStoreProblem(error);
    }
    return { settle: [], isDue: false };
  };
  return {
    get open() {
      return open;
    },
    join,
    hasten,
    finish,
    undo,
  };
}

/** Returns Problem `not_ready` for an error of the database, and any other error as it is: that is a defect. */
export function toStoreProblem(cause: unknown): unknown {
  if (!errorCodeOf(cause)?.startsWith('SQLITE_')) return cause;
  return new Problem('not_ready', { detail: 'The store of sessions cannot be used.', cause });
}
