import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';

/** An open SQLite database. Close it with `close()`. */
export type SqliteDatabase = Database.Database;

/** A step from one version of a schema to the next; runs inside a transaction. */
export type Migration = (database: SqliteDatabase) => void;

/** Where a database lives and what it must look like. */
export interface SqliteOptions {
  /** A file path, or `:memory:`. The folder is created where it is missing. */
  readonly path: string;
  /** All steps since the empty file, oldest first. Published steps are never edited. */
  readonly migrations: readonly Migration[];
}

/**
 * Opens a database in WAL mode and brings it to the newest version of its schema. The caller owns
 * it and closes it.
 *
 * @throws Error when the file cannot be opened, or was written by a newer version of Perch.
 */
export function openSqlite(options: SqliteOptions): SqliteDatabase {
  if (options.path !== ':memory:') mkdirSync(dirname(options.path), { recursive: true });
  const database = keepForever(new Database(options.path, { timeout: 5000 }));
  const prepare = database.prepare.bind(database);
  database.prepare = ((sql: string) => keepForever(prepare(sql))) as typeof database.prepare; // the same function, but for the keeping
  try {
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON',
    );
    migrate(database, options);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
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

function migrate(database: SqliteDatabase, { path, migrations }: SqliteOptions): void {
  const run = database.transaction(() => {
    const version = database.prepare<[], number>('PRAGMA user_version').pluck().get() ?? 0;
    if (version > migrations.length) {
      throw new Error(`${path} was written by a newer version of Perch (schema ${version}).`);
    }
    for (const migration of migrations.slice(version)) migration(database);
    database.exec(`PRAGMA user_version = ${migrations.length}`);
  });
  // IMMEDIATE: two processes that start together migrate one after the other.
  run.immediate();
}
