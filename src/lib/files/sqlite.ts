import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { makePrivateFile, makePrivateFolder, restrictToOwner, withPath } from './private-files.ts';

/** Open SQLite database. Callers must call `close`. */
export type SqliteDatabase = Database.Database;

/** Function that upgrades a database from one schema version to the next, inside a transaction. */
export type Migration = (database: SqliteDatabase) => void;

export interface SqliteLocation {
  /** Path of the database file, `:memory:`, or an empty string for a temporary file. */
  readonly path: string;
  /** Milliseconds that a statement waits for a lock of another connection. Default: 5000. */
  readonly busyMs?: number;
  /** Whether a missing file or schema is an error. By default, Perch creates the database. */
  readonly mustExist?: boolean;
}

export interface SqliteOptions extends SqliteLocation {
  /** Schema upgrades in order, the first for an empty file. Published ones are never edited. */
  readonly migrations: readonly Migration[];
  /** Journal mode of SQLite. Default: `wal`. */
  readonly journal?: keyof typeof journals;
}

const journals = {
  wal: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON',
  rollback: 'PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA; PRAGMA foreign_keys = ON',
} as const;

/** Error for a file that this version of Perch cannot use as a database. Retrying does not help. */
export class UnusableFileError extends Error {}

/** Error for a database whose schema only a newer version of Perch knows. */
export class NewerSchemaError extends UnusableFileError {
  constructor(file: string, version: number) {
    super(
      `${file} was written by a newer version of Perch (schema ${version}). Install that version or a later one.`,
    );
  }
}

/** Opens a database like `openSqlite` and calls `build` for the store, which must close it. */
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
 * Opens a database and migrates the schema. The caller must close it.
 * @throws Error with `path` if the file cannot be opened; UnusableFileError if a newer version of
 *   Perch wrote it, or if `mustExist` is `true` and it has no schema
 */
export const openSqlite = (options: SqliteOptions): SqliteDatabase =>
  openStore(options, (database) => database);

/** Opens a database without reading it, as it may be locked. Call `setUpSqlite` before use. */
export function connectSqlite(location: SqliteLocation): SqliteDatabase {
  const { path, busyMs = 5000, mustExist = false } = location;
  if (path !== ':memory:' && path !== '') {
    if (!mustExist) {
      makePrivateFolder(dirname(path));
      makePrivateFile(path);
    }
    // SQLite creates further files with the permissions of the database file.
    for (const suffix of ['', '-wal', '-shm', '-journal']) restrictToOwner(`${path}${suffix}`);
  }
  const open = () => new Database(path, { timeout: busyMs, fileMustExist: mustExist });
  const database = keepForever(withPath(path, open));
  const prepare = database.prepare.bind(database);
  database.prepare = ((sql: string) => keepForever(prepare(sql))) as typeof database.prepare; // also stores its result
  return database;
}

/**
 * Reads the first structural error (`null` if there is none) and the schema version, without
 * changes. Takes up to a minute per GB. Throws Error with `path` if the file cannot be read.
 */
export function inspectSqlite(path: string): { damage: string | null; schema: number } {
  return withPath(path, () => {
    const database = keepForever(new Database(path, { readonly: true, timeout: 5000 }));
    const read = <Value>(sql: string) =>
      keepForever(database.prepare<[], Value>(sql).pluck()).get();
    try {
      const damage = read<string>('PRAGMA integrity_check(1)') ?? 'ok';
      const schema = read<number>('PRAGMA user_version') ?? 0;
      return { damage: damage === 'ok' ? null : damage, schema };
    } finally {
      database.close();
    }
  });
}

/** Sets journal mode and schema; may be repeated after an error. Throws like `openSqlite`. */
export function setUpSqlite(database: SqliteDatabase, options: SqliteOptions): void {
  // This call fails if the file is locked. A failed `exec` creates no native object.
  database.exec(journals[options.journal ?? 'wal']);
  migrate(database, options);
}

const pagesAtOnce = 2000;

/** Copies an attached database as its transaction sees it. Throws Error with `path` on failure. */
export async function copySqlite(
  database: SqliteDatabase,
  attached: string,
  { path, signal }: Readonly<{ path: string; signal: AbortSignal }>,
): Promise<void> {
  keepBackupsOf(database);
  const progress = () => {
    signal.throwIfAborted();
    return pagesAtOnce;
  };
  const options = { attached, progress }; // the types of better-sqlite3 lack `attached`
  const copied = database.backup(path, options);
  await copied.catch((error: unknown) => withPath(path, () => raise(error)));
}

function raise(error: unknown): never {
  throw error;
}

/** Returns an error code, such as `SQLITE_BUSY`; `undefined` for other errors. */
export function errorCodeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/**
 * References that protect better-sqlite3's native objects from garbage collection, which can abort
 * the process in Node 24.19 and later (nodejs/node issue 65446, docs/decisions/0011).
 */
const kept: unknown[] = [];

function keepForever<Native>(native: Native): Native {
  kept.push(native);
  return native;
}

function keepBackupsOf(database: SqliteDatabase): void {
  for (const symbol of Object.getOwnPropertySymbols(database)) {
    const native: unknown = Reflect.get(database, symbol);
    if (typeof native !== 'object' || native === null || !('backup' in native)) continue;
    const { backup } = native;
    if (typeof backup !== 'function') continue;
    native.backup = (...args: unknown[]) => keepForever(Reflect.apply(backup, native, args));
  }
}

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
  const upgrade = () => {
    const version = readVersion.get() ?? 0;
    if (version > migrations.length) throw new NewerSchemaError(path, version);
    if (version === 0 && mustExist)
      throw new UnusableFileError(`${path} is not a database of Perch: it has no tables.`);
    for (const migration of migrations.slice(version)) migration(database);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  };
  // A schema that is up to date is only read, so no write lock is taken.
  if (readVersion.get() === migrations.length) return;
  // IMMEDIATE: of two processes that start at the same time, the second one waits.
  database.transaction(upgrade).immediate();
}
