import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Clock } from '../../core/clock.ts';
import {
  connectSqlite,
  errorCodeOf,
  openSqlite,
  type SqliteDatabase,
  setUpSqlite,
  UnusableFileError,
} from '../../core/files/sqlite.ts';
import { type KeyRows, keyMigrations, openKeyRows } from './key-rows.ts';

/** Messages for the operator, by fault. They name no path, because the admin routes show them too. */
const details = {
  missing:
    'There is no key store: `perch.db` is not in the data directory. Put a copy of it there, or create a key, which makes a new store.',
  empty:
    'The key store `perch.db` in the data directory is empty, zero bytes long. Put a copy in its place, or create a key, which makes a new store.',
  not_a_file:
    'What is called `perch.db` in the data directory is no file. Move it away, then put the key store there, or create a key, which makes a new one.',
  locked:
    'The key store `perch.db` is locked by another program. Wait for it or end it, then try again.',
  damaged:
    'The key store `perch.db` in the data directory is damaged, or is none of this version of Perch. Put a copy in its place; or move it away and create a key, which makes a new store.',
  unreadable:
    'The key store `perch.db` in the data directory cannot be read or written. Look at its permissions and at the disk.',
  closed: 'The key store is closed, because the server is stopping.',
} as const;

export type KeyFileFault = keyof typeof details;

/** Error of a key file that cannot be used; the message is for the operator. */
export class KeyFileError extends Error {
  readonly fault: KeyFileFault;
  constructor(fault: KeyFileFault, cause?: unknown) {
    const code = fault === 'unreadable' ? errorCodeOf(cause) : undefined;
    super(code === undefined ? details[fault] : `${details[fault]} (${code})`, { cause });
    this.fault = fault;
  }
}

/** The file of the keys. */
export interface KeyFile {
  /**
   * Runs `work` on the file that is at the path now. If its fault is one of `mend`, creates an empty
   * store first. Blocks at most 20 ms for a lock.
   *
   * @throws KeyFileError if the file cannot be used
   */
  use<Value>(work: (rows: KeyRows) => Value, mend?: readonly KeyFileFault[]): Value;
  /**
   * Returns a text that every change of the file changes, and every tenth of a second; `undefined` where
   * none can be told: in memory, without a file, and in the seconds after a change, when another one could
   * have the same time.
   */
  version(): string | undefined;
  close(): void;
}

const inMemory = ':memory:';
/** More than the steps in which file systems count time, two seconds at most (FAT). */
const grainMs = 3000;
/** For how long a version holds, because it does not show that another program has locked the file. */
const versionMs = 100;
const schema = { migrations: keyMigrations, journal: 'rollback', busyMs: 20 } as const;

/** Device and inode, which identify a file. */
type FileIdentity = Pick<Stats, 'dev' | 'ino'>;

interface Connection extends FileIdentity {
  readonly database: SqliteDatabase;
  /** Absent until the file could be read. */
  rows?: KeyRows;
}

/**
 * Returns the key file at a path, or in memory; opens nothing yet. The file may change, disappear or
 * be replaced at any time. As long as it is the same one, even locked or damaged, it keeps its
 * connection, because SQLite objects are never freed (docs/decisions/0011).
 */
export function openKeyFile(location: string, clock: Clock): KeyFile {
  const path = location === inMemory ? location : resolve(location);
  const place = { path, ...schema, mustExist: path !== inMemory };
  let connection: Connection | undefined;
  let isClosed = false;
  const disconnect = () => {
    connection?.database.close();
    connection = undefined;
  };
  const openRows = ({ dev, ino }: FileIdentity): KeyRows => {
    if (connection?.ino !== ino || connection.dev !== dev) disconnect();
    connection ??= { database: connectSqlite(place), dev, ino };
    const { database } = connection;
    // Without cached pages, a read sees what another program wrote over the file without SQLite.
    database.exec('PRAGMA shrink_memory');
    if (connection.rows === undefined) setUpSqlite(database, place);
    connection.rows ??= openKeyRows(database);
    return connection.rows;
  };
  return {
    use: (work, mend = []) => {
      if (isClosed) throw new KeyFileError('closed');
      try {
        let found = findFile(path);
        if (typeof found === 'string' && mend.includes(found)) {
          openSqlite({ path, ...schema }).close();
          found = findFile(path);
        }
        if (typeof found === 'string') throw new KeyFileError(found);
        return work(openRows(found));
      } catch (error) {
        throw toFileError(error);
      }
    },
    version: () => {
      if (path === inMemory || isClosed) return undefined;
      const now = clock.now();
      const stats = statSync(path, { throwIfNoEntry: false });
      if (stats === undefined || now - stats.ctimeMs < grainMs) return undefined;
      const { dev, ino, size, ctimeMs } = stats;
      return `${dev}:${ino}:${size}:${ctimeMs}:${Math.floor(now / versionMs)}`;
    },
    close: () => {
      isClosed = true;
      disconnect();
    },
  };
}

/** Returns the identity of the file at a path, or the fault that shows without opening it. */
function findFile(path: string): FileIdentity | KeyFileFault {
  if (path === inMemory) return { dev: 0, ino: 0 };
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 'missing';
  if (!stats.isFile()) return 'not_a_file';
  // SQLite takes zero bytes for a database without tables. Here they are lost keys.
  return stats.size === 0 ? 'empty' : stats;
}

/** SQLite results that say that the content is not what it should be. */
const damage = /^SQLITE_(?:CORRUPT|NOTADB|ERROR|SCHEMA|MISMATCH|FORMAT)/;

/** Returns the error of the file behind `error`, or `error` itself if it is a defect of the code. */
function toFileError(error: unknown): unknown {
  if (error instanceof KeyFileError) return error;
  if (error instanceof UnusableFileError) return new KeyFileError('damaged', error);
  const code = errorCodeOf(error);
  if (code === undefined) return error;
  if (code.startsWith('SQLITE_BUSY')) return new KeyFileError('locked', error);
  return new KeyFileError(damage.test(code) ? 'damaged' : 'unreadable', error);
}
