import type { Clock } from '../clock.ts';
import { withPath } from './private-files.ts';
import { connectSqlite, copySqlite, errorCodeOf, type SqliteDatabase } from './sqlite.ts';

export interface SnapshotOptions {
  readonly paths: readonly string[];
  readonly clock: Clock;
  /** Maximum time in milliseconds to wait until no process writes to any of the databases. */
  readonly timeoutMs: number;
}

export interface CopyOptions {
  readonly target: string;
  readonly signal: AbortSignal;
}

/** Error if the databases could not be locked in time, because other processes kept writing. */
export class BusyDatabasesError extends Error {}

interface Source {
  readonly path: string;
  /** Connection with a read transaction, which sees the state at the moment of the snapshot. */
  readonly reader: SqliteDatabase;
  /** Connection with a lock that prevents writes by other processes. */
  readonly locker: SqliteDatabase;
  /** Whether the database has a write-ahead log: others can write to it while `reader` reads. */
  readonly isWal: boolean;
}

/** Time in milliseconds between two attempts to lock all databases. */
const retryMs = 5;

/**
 * Takes a snapshot of several databases at the same moment, locking them against writes for about a
 * millisecond. Databases without a write-ahead log stay locked until they are copied. The caller
 * must call `close`.
 * @throws BusyDatabasesError if they cannot be locked in time; Error with `path` if one cannot be
 *   read
 */
export async function takeSnapshots(options: SnapshotOptions) {
  const sources: Source[] = [];
  const close = () => {
    for (const { reader, locker } of sources) {
      locker.close();
      reader.close();
    }
  };
  try {
    for (const path of options.paths) sources.push(openSource(path));
    await lockAll(sources, options);
    for (const { path, reader } of sources) withPath(path, () => reader.exec(beginRead));
    for (const { isWal, locker } of sources) if (isWal) locker.exec('ROLLBACK');
  } catch (error) {
    close();
    throw error;
  }
  const copy = async (path: string, { target, signal }: CopyOptions): Promise<void> => {
    const source = sources.find((one) => one.path === path);
    if (source === undefined) throw new Error(`There is no snapshot of ${path}.`);
    const { reader, locker } = source;
    await copySqlite(reader, target, signal);
    reader.exec('ROLLBACK');
    if (locker.inTransaction) locker.exec('ROLLBACK');
  };
  return {
    /** Copies a database's state to `options.target`. Rejects if `options.signal` is aborted. */
    copy,
    close,
  };
}

// The transaction begins with its first read.
const beginRead = 'BEGIN; SELECT 1 FROM sqlite_schema';

function openSource(path: string): Source {
  const reader = connectSqlite({ path, mustExist: true });
  try {
    const journal = withPath(path, () =>
      reader.prepare<[], string>('PRAGMA journal_mode').pluck().get(),
    );
    const locker = connectSqlite({ path, mustExist: true, busyMs: 0 });
    return { path, reader, locker, isWal: journal === 'wal' };
  } catch (error) {
    reader.close();
    throw error;
  }
}

/** Locks all; against deadlocks, unlocks all before a retry. Throws BusyDatabasesError. */
async function lockAll(sources: readonly Source[], { clock, timeoutMs }: SnapshotOptions) {
  const endMs = clock.now() + timeoutMs;
  while (!tryToLockAll(sources)) {
    if (clock.now() >= endMs) {
      const paths = sources.map(({ path }) => path).join(', ');
      throw new BusyDatabasesError(`Other processes write to ${paths} all the time.`);
    }
    await clock.sleep(retryMs);
  }
}

function tryToLockAll(sources: readonly Source[]): boolean {
  if (sources.every(tryToLock)) return true;
  for (const { locker } of sources) if (locker.inTransaction) locker.exec('ROLLBACK');
  return false;
}

function tryToLock({ path, locker }: Source): boolean {
  try {
    withPath(path, () => locker.exec('BEGIN IMMEDIATE'));
    return true;
  } catch (error) {
    if (errorCodeOf(error)?.startsWith('SQLITE_BUSY')) return false;
    throw error;
  }
}
