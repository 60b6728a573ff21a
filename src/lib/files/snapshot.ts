import type { Clock } from '../clock.ts';
import { withPath } from './private-files.ts';
import { connectSqlite, copySqlite, errorCodeOf, type SqliteDatabase } from './sqlite.ts';

export interface SnapshotOptions {
  readonly folder: string;
  readonly names: readonly string[];
  readonly target: string;
  readonly clock: Clock;
  /** Maximum time in milliseconds to wait until no process writes to any of the databases. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Called before each database is copied. */
  readonly onCopy: (name: string) => void;
}

/** Error if the databases could not be locked in time, because other processes kept writing. */
export class BusyDatabasesError extends Error {}

/** Time in milliseconds between two attempts to lock all databases. */
const retryMs = 5;

/**
 * Copies databases from a folder to another, all as they are at the same moment. Writes wait until
 * the databases without a write-ahead log are copied.
 * @throws BusyDatabasesError if they cannot be locked in time; Error with `path` for other failures
 */
export async function copyDatabases(options: SnapshotOptions): Promise<void> {
  const { folder, names, target, signal, onCopy } = options;
  const locker = connectSqlite({ path: ':memory:' });
  const reader = connectSqlite({ path: ':memory:' });
  const copy = async (name: string) => {
    onCopy(name);
    await copySqlite(reader, name, { path: `${target}/${name}`, signal });
  };
  try {
    for (const name of names) for (const one of [locker, reader]) attach(one, folder, name);
    const isWal = (name: string) =>
      reader.prepare(`PRAGMA "${name}".journal_mode`).pluck().get() === 'wal';
    const logged = names.filter(isWal);
    await lockAll(locker, options);
    // Each transaction begins with its first read.
    reader.exec(
      `BEGIN; ${logged.map((name) => `SELECT 1 FROM "${name}".sqlite_schema`).join(';')}`,
    );
    // SQLite copies nothing from a connection with a write transaction, such as `locker`.
    for (const name of names) if (!logged.includes(name)) await copy(name);
    locker.exec('ROLLBACK');
    for (const name of logged) await copy(name);
  } finally {
    locker.close();
    reader.close();
  }
}

function attach(database: SqliteDatabase, folder: string, name: string): void {
  const path = `${folder}/${name}`;
  withPath(path, () => database.prepare('ATTACH ? AS ?').run(path, name));
}

/** Locks all databases against writes, or none while a process writes to one of them. */
async function lockAll(locker: SqliteDatabase, options: SnapshotOptions): Promise<void> {
  const { folder, names, clock, timeoutMs, signal } = options;
  const endMs = clock.now() + timeoutMs;
  // A process can hold one database while it waits for another, so this must not wait for a lock.
  locker.exec('PRAGMA busy_timeout = 0');
  while (!tryToLock(locker)) {
    if (clock.now() >= endMs) {
      const paths = names.map((name) => `${folder}/${name}`).join(', ');
      throw new BusyDatabasesError(`Other processes write to ${paths} all the time.`);
    }
    await clock.sleep(retryMs, signal);
  }
}

function tryToLock(locker: SqliteDatabase): boolean {
  try {
    locker.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if (errorCodeOf(error)?.startsWith('SQLITE_BUSY')) return false;
    throw error;
  }
}
