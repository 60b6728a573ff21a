import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import {
  connectSqlite,
  errorCodeOf,
  NewerSchemaError,
  openSqlite,
  type SqliteDatabase,
  setUpSqlite,
  UnusableFileError,
} from '../../lib/files/sqlite.ts';
import { type KeyRows, keyMigrations, openKeyRows } from './key-rows.ts';

const details = {
  missing:
    'The key store `perch.db` is missing in the data directory. Restore a backup, or create a key: that creates a new store.',
  empty:
    'The key store `perch.db` in the data directory is empty (0 bytes). Restore a backup, or create a key: that creates a new store.',
  not_a_file:
    'The key store `perch.db` in the data directory is not a regular file. Move it away, then restore a backup, or create a key: that creates a new store.',
  locked:
    'Another program has locked the key store `perch.db`. Wait until that program has finished, or stop it, then try again.',
  damaged:
    'The key store `perch.db` in the data directory is damaged, or Perch did not create it. Restore a backup; or move the file away and create a key: that creates a new store.',
  newer:
    'The key store `perch.db` in the data directory was written by a newer version of Perch. Install that version or a later one, or restore a backup of this version.',
  unreadable:
    'The key store `perch.db` in the data directory cannot be read or written. Check its permissions and the disk.',
  closed: 'The key store is closed, because the server is stopping.',
} as const;

export type KeyFileFault = keyof typeof details;

/** Error for an unusable file of API keys. The message is written for the operator. */
export class KeyFileError extends Error {
  readonly fault: KeyFileFault;
  constructor(fault: KeyFileFault, cause?: unknown) {
    const code = fault === 'unreadable' ? errorCodeOf(cause) : undefined;
    super(code === undefined ? details[fault] : `${details[fault]} (${code})`, { cause });
    this.fault = fault;
  }
}

const inMemory = ':memory:';
/** Milliseconds after a change without caching: FAT timestamps (2 seconds) and a margin. */
const timestampResolutionMs = 3000;
/** Milliseconds for which the file may be cached if no change is detected. */
const versionMs = 100;
const schema = { migrations: keyMigrations, journal: 'rollback', busyMs: 20 } as const;

type FileIdentity = Pick<Stats, 'dev' | 'ino'>;

type FileState = Pick<Stats, 'dev' | 'ino' | 'size' | 'ctimeMs'>;

interface Connection extends FileIdentity {
  readonly database: SqliteDatabase;
  /** Prepared statements; absent until the file has been read successfully. */
  rows?: KeyRows;
}

export type KeyFile = ReturnType<typeof openKeyFile>;

/** Returns an accessor that reopens the file only after it was replaced (docs/decisions/0011). */
export function openKeyFile(location: string, clock: Clock) {
  const path = location === inMemory ? location : resolve(location);
  const options = { path, ...schema, mustExist: path !== inMemory };
  let connection: Connection | undefined;
  let version: (FileState & { readonly interval: number }) | undefined;
  let isClosed = false;
  const disconnect = () => {
    connection?.database.close();
    connection = undefined;
  };
  const openRows = ({ dev, ino }: FileIdentity): KeyRows => {
    if (connection?.ino !== ino || connection.dev !== dev) disconnect();
    connection ??= { database: connectSqlite(options), dev, ino };
    const { database } = connection;
    // Drops cached pages, so that a read sees changes that another program made without SQLite.
    database.exec('PRAGMA shrink_memory');
    if (connection.rows === undefined) setUpSqlite(database, options);
    connection.rows ??= openKeyRows(database);
    return connection.rows;
  };
  return {
    /**
     * Calls `work` with the rows. If the file has a fault in `createOn`, creates an empty key store
     * first. Waits up to 20 ms for a lock of another program.
     * @throws KeyFileError if the file has another fault or stays locked
     */
    use: <Value>(work: (rows: KeyRows) => Value, createOn: readonly KeyFileFault[] = []) => {
      if (isClosed) throw new KeyFileError('closed');
      try {
        let found = findFile(path);
        if (typeof found === 'string' && createOn.includes(found)) {
          openSqlite({ path, ...schema }).close();
          found = findFile(path);
        }
        if (typeof found === 'string') throw new KeyFileError(found);
        return work(openRows(found));
      } catch (error) {
        throw toFileError(error);
      }
    },
    /**
     * Returns the same object while cached content may be used, and a new one after a change and
     * every 100 ms in case a change was not detected. Returns `undefined` if nothing may be cached:
     * in memory, closed, missing, or changed in the last 3 seconds.
     */
    version: () => {
      if (path === inMemory || isClosed) return undefined;
      const now = clock.now();
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats === undefined || now - stats.ctimeMs < timestampResolutionMs) return undefined;
      const interval = Math.floor(now / versionMs);
      if (interval !== version?.interval || !isSameFile(stats, version)) {
        const { dev, ino, size, ctimeMs } = stats;
        version = { dev, ino, size, ctimeMs, interval };
      }
      return version;
    },
    close: () => {
      isClosed = true;
      disconnect();
    },
  };
}

function isSameFile(a: FileState, b: FileState): boolean {
  return a.ctimeMs === b.ctimeMs && a.size === b.size && a.ino === b.ino && a.dev === b.dev;
}

function findFile(path: string): FileIdentity | KeyFileFault {
  if (path === inMemory) return { dev: 0, ino: 0 };
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 'missing';
  if (!stats.isFile()) return 'not_a_file';
  // SQLite would open an empty file as a database without tables. Here, an empty file means that
  // the keys are lost.
  return stats.size === 0 ? 'empty' : stats;
}

const damage = /^SQLITE_(?:CORRUPT|NOTADB|ERROR|SCHEMA|MISMATCH|FORMAT)/;

function toFileError(error: unknown): unknown {
  if (error instanceof KeyFileError) return error;
  if (error instanceof NewerSchemaError) return new KeyFileError('newer', error);
  if (error instanceof UnusableFileError) return new KeyFileError('damaged', error);
  const code = errorCodeOf(error);
  if (code === undefined) return error;
  if (code.startsWith('SQLITE_BUSY')) return new KeyFileError('locked', error);
  return new KeyFileError(damage.test(code) ? 'damaged' : 'unreadable', error);
}
