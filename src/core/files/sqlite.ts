import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { closeToOthers, makePrivateFile, makePrivateFolder, withPath } from './private-files.ts';

/** An open SQLite database. Close it with `close()`. */
export type SqliteDatabase = Database.Database;

/** A step from one version of a schema to the next; runs inside a transaction. */
export type Migration = (database: SqliteDatabase) => void;

/** Where a database lives. */
export interface SqliteLocation {
  /** A file path, `:memory:`, or empty for a temporary file. */
  readonly path: string;
  /** How long a statement blocks for a lock of another connection; default 5000. */
  readonly busyMs?: number;
  /** Refuses a missing file and one without a schema. Default: they are created. */
  readonly mustExist?: boolean;
}

export interface SqliteOptions extends SqliteLocation {
  /** Steps from the empty file on. Published steps are never edited. */
  readonly migrations: readonly Migration[];
  /** Default: `wal`. */
  readonly journal?: keyof typeof journals;
}

/** `wal` can lose the last commits with the power, `durable` and `rollback` cannot; with `rollback` readers wait. */
const journals = {
  wal: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON',
  durable: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON',
  rollback: 'PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA; PRAGMA foreign_keys = ON',
} as const;

/** The file is no database that this version of Perch can use; a retry does not help. */
export class UnusableFileError extends Error {}

/**
 * Opens a database, migrates it and builds a store on it, which closes the database. If `build` fails, it is closed.
 *
 * @throws Error with `path` if the file cannot be opened; UnusableFileError if a newer version of Perch wrote it
 */
export function openStore<Store>(
  options: SqliteOptions,
  build: (database: SqliteDatabase) => Store,
): Store {
  const database = connectSqlite(options);
  try {
    return withPath(options.path, () => {
      setUpSqlite(database, options);
      return build(database);
    });
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens a database and migrates it; throws as `openStore` does. The caller closes it. */
export const openSqlite = (options: SqliteOptions): SqliteDatabase =>
  openStore(options, (database) => database);

/**
 * Opens a connection without reading from it, for owners who call `setUpSqlite` themselves because their file may be
 * locked for now. The caller closes it. The file and those beside it are for their owner alone afterwards.
 *
 * @throws Error with `path` if the file cannot be opened
 */
export function connectSqlite(location: SqliteLocation): SqliteDatabase {
  const { path, busyMs = 5000, mustExist = false } = location;
  if (path !== ':memory:' && path !== '') {
    if (!mustExist) {
      makePrivateFolder(dirname(path));
      makePrivateFile(path);
    }
    // SQLite creates its files beside a database with the permissions of the database.
    for (const suffix of ['', '-wal', '-shm', '-journal']) closeToOthers(`${path}${suffix}`);
  }
  const open = () => new Database(path, { timeout: busyMs, fileMustExist: mustExist });
  const database = keepForever(withPath(path, open));
  const prepare = database.prepare.bind(database);
  database.prepare = ((sql: string) => keepForever(prepare(sql))) as typeof database.prepare; // the same function, but for the keeping
  return database;
}

/** Sets up journal and schema; throws as `openSqlite` does. It can be called again if a lock made it fail. */
export function setUpSqlite(database: SqliteDatabase, options: SqliteOptions): void {
  // Run as a script, because a lock shows here and a script leaves no native object behind.
  database.exec(journals[options.journal ?? 'wal']);
  migrate(database, options);
}

/** Returns the code of an error that SQLite or the file system named, such as `SQLITE_BUSY`. */
export function errorCodeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * The objects of better-sqlite3. Node 24.19 and later aborts the process when one is collected while no JavaScript
 * runs (nodejs/node issue 65446), so each is kept until the process ends; `pragma()` and `iterate()`, which make
 * more of them, are not used (docs/decisions/0011).
 */
const kept: unknown[] = [];

function keepForever<Native>(native: Native): Native {
  kept.push(native);
  return native;
}

/** One statement for each database, because a failed set-up may be tried many times. */
const versionReaders = new WeakMap<SqliteDatabase, Database.Statement<[], number>>();

function prepareReadVersion(database: SqliteDatabase): Database.Statement<[], number> {
  const prepared =
    versionReaders.get(database) ?? database.prepare<[], number>('PRAGMA user_version').pluck();
  versionReaders.set(database, prepared);
  return prepared;
}

function migrate(database: SqliteDatabase, options: SqliteOptions): void {
  const { path, migrations, mustExist = false } = options;
  const readVersion = prepareReadVersion(database);
  const bringUp = () => {
    const version = readVersion.get() ?? 0;
    if (version > migrations.length) {
      throw new UnusableFileError(
        `${path} was written by a newer version of Perch (schema ${version}).`,
      );
    }
    if (version === 0 && mustExist) throw new UnusableFileError(`${path} has no tables of Perch.`);
    for (const migration of migrations.slice(version)) migration(database);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  };
  // What is up to date needs no lock that others would notice.
  if (readVersion.get() === migrations.length) return;
  // IMMEDIATE: two processes that start together migrate one after the other.
  database.transaction(bringUp).immediate();
}
