import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { closeToOthers, makePrivateFile, makePrivateFolder, withPath } from './private-files.ts';

/** An open SQLite database. Close it with `close()`. */
export type SqliteDatabase = Database.Database;

/** A step from one version of a schema to the next; runs inside a transaction. */
export type Migration = (database: SqliteDatabase) => void;

/** Where a database lives. */
export interface SqliteLocation {
  /** A file path, `:memory:`, or the empty string for a temporary file of SQLite's. */
  readonly path: string;
  /** How long a statement waits, blocking, for a lock of somebody else; default 5000. */
  readonly busyMs?: number;
  /** Refuses a missing file and one without a schema. Default: file, schema and folder are created. */
  readonly mustExist?: boolean;
}

/** Where a database lives and what it must look like. */
export interface SqliteOptions extends SqliteLocation {
  /** All steps since the empty file, oldest first. Published steps are never edited. */
  readonly migrations: readonly Migration[];
  /** How a transaction is made whole: by a write-ahead log, the default, or in the one file. */
  readonly journal?: keyof typeof journals;
}

/**
 * How each journal is set up. With `wal` the last commits can be lost with the power; with `durable` what is
 * committed is on the disk. So it is with a rollback journal, as is the end of that journal
 * (`EXTRA`), and readers wait for writers.
 */
const journals = {
  wal: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON',
  durable: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON',
  rollback: 'PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA; PRAGMA foreign_keys = ON',
} as const;

/** The file is no database that this version of Perch can use, however often it is tried. */
export class UnusableFileError extends Error {}

/**
 * Opens a database, brings it to the newest version of its schema and builds a store on it. The caller
 * owns the store, which closes the database. If `build` fails, the database is closed.
 *
 * @throws Error with `path` if the file cannot be opened; UnusableFileError if a newer version of Perch
 * wrote it; what `build` throws
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

/**
 * Opens a database and brings it to the newest version of its schema. The caller owns it and closes
 * it.
 *
 * @throws Error with `path` if the file cannot be opened; UnusableFileError if a newer version of Perch
 * wrote it
 */
export function openSqlite(options: SqliteOptions): SqliteDatabase {
  return openStore(options, (database) => database);
}

/**
 * The first half of `openSqlite`: a connection that has read nothing yet. It is for owners who set
 * it up themselves, because their file may be locked now and readable later. The caller closes it. The
 * file, and those that SQLite keeps beside it, are for their owner alone afterwards.
 *
 * @throws Error with `path` if the file cannot be opened
 */
export function connectSqlite(location: SqliteLocation): SqliteDatabase {
  const { path, busyMs = 5000, mustExist = false } = location;
  if (path !== ':memory:' && path !== '') makePrivate(path, mustExist);
  const open = () => new Database(path, { timeout: busyMs, fileMustExist: mustExist });
  const database = keepForever(withPath(path, open));
  const prepare = database.prepare.bind(database);
  database.prepare = ((sql: string) => keepForever(prepare(sql))) as typeof database.prepare; // the same function, but for the keeping
  return database;
}

/** SQLite creates its files beside a database with the permissions of the database. */
const suffixes = ['-wal', '-shm', '-journal'];

function makePrivate(path: string, mustExist: boolean): void {
  if (!mustExist) {
    makePrivateFolder(dirname(path));
    makePrivateFile(path);
  }
  for (const suffix of ['', ...suffixes]) closeToOthers(`${path}${suffix}`);
}

/**
 * The second half of `openSqlite`: journal and schema. What failed for a lock can be called again.
 *
 * @throws Error as `openSqlite` does.
 */
export function setUpSqlite(database: SqliteDatabase, options: SqliteOptions): void {
  // Run as a script, because a lock shows here and a script leaves no native object behind.
  database.exec(journals[options.journal ?? 'wal']);
  migrate(database, options);
}

/** Gives the code of an error that SQLite or the file system named, such as `SQLITE_BUSY`. */
export function errorCodeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * What better-sqlite3 made. Node 24.19 and later aborts the process when a native object of it is
 * collected while no JavaScript runs (nodejs/node issue 65446), so none is ever collected: each is
 * closed by its owner and kept until the process ends. For the same reason nobody here uses
 * `pragma()` and `iterate()`, which make native objects of their own (docs/decisions/0011).
 */
const kept: unknown[] = [];

function keepForever<Native>(native: Native): Native {
  kept.push(native);
  return native;
}

/** One statement for each database, because a set-up that failed may be tried any number of times. */
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
