import { errorCodeOf, type SqliteDatabase } from '../../core/files/sqlite.ts';
import { Problem } from '../../core/problem.ts';

/** When work is committed: at the end of this turn of the event loop, or some turns later, so that more shares a commit. */
type Urgency = 'now' | 'soon';

/** Number of turns of the event loop for which work that is to be committed soon waits for more. */
const soonTurns = 8;

interface GroupCommitOptions {
  readonly database: SqliteDatabase;
  readonly onTurnEnd: (callback: () => void) => void;
  /** Called when a group is committed or undone, before its promises settle. */
  readonly onEnd: (isCommitted: boolean) => void;
}

/** An open transaction, with the callbacks for its end; the fault is `null` if it is committed. */
interface Group {
  readonly settle: ((fault: unknown) => void)[];
  isDue: boolean;
}

export type GroupCommit = ReturnType<typeof createGroupCommit>;

/** Creates the sharing of commits on a database that nobody else in this process writes to. */
export function createGroupCommit(options: GroupCommitOptions) {
  const groups = createGroups(options);
  return {
    /**
     * Runs work with the others of this turn of the event loop, in order, and resolves when all of them are durable. A
     * Problem that the work throws before it writes rejects it alone; whatever else fails undoes all of the group.
     */
    write: <Value>(work: () => Value, urgency: Urgency = 'now'): Promise<Value> =>
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
    /** Runs a query on what is durable: at once, or as soon as the open group is committed. */
    read: <Value>(query: () => Value): Promise<Value> =>
      new Promise((resolve, reject) => {
        const run = () => {
          try {
            resolve(query());
          } catch (error) {
            reject(toStoreProblem(error));
          }
        };
        const { open } = groups;
        if (open === null) return run();
        open.settle.push(run);
        groups.hasten(open);
      }),
    flush: (): void => {
      if (groups.open !== null) groups.finish(groups.open);
    },
  };
}

function createGroups({ database, onTurnEnd, onEnd }: GroupCommitOptions) {
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const rollback = database.prepare('ROLLBACK');
  let open: Group | null = null;

  const undo = (group: Group, cause: unknown): void => {
    open = null;
    if (database.inTransaction) rollback.run();
    onEnd(false);
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
    onEnd(true);
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
    if (open === null) {
      try {
        begin.run();
      } catch (error) {
        throw toStoreProblem(error);
      }
      open = { settle: [], isDue: false };
      if (urgency === 'soon') linger(open, soonTurns);
    }
    if (urgency === 'now') hasten(open);
    return open;
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
