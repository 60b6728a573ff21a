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
  const database = new Database(options.path, { timeout: 5000 });
  try {
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.pragma('foreign_keys = ON');
    migrate(database, options);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function migrate(database: SqliteDatabase, { path, migrations }: SqliteOptions): void {
  const run = database.transaction(() => {
    const version = database.pragma('user_version', { simple: true }) as number; // an integer by SQLite's definition
    if (version > migrations.length) {
      throw new Error(`${path} was written by a newer version of Perch (schema ${version}).`);
    }
    for (const migration of migrations.slice(version)) migration(database);
    database.pragma(`user_version = ${migrations.length}`);
  });
  // IMMEDIATE: two processes that start together migrate one after the other.
  run.immediate();
}
