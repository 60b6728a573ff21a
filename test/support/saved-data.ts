import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { keyMigrations } from '../../src/access/keys/key-rows.ts';
import { migrations as archiveMigrations } from '../../src/archive/store/schema.ts';
import { savedDatabases, savedFiles } from '../../src/lib/files/data-folder.ts';
import {
  connectSqlite,
  type Migration,
  openSqlite,
  type SqliteDatabase,
} from '../../src/lib/files/sqlite.ts';
import { createRsaKey } from '../../src/lib/secret.ts';
import { sessionMigrations } from '../../src/sessions/store/sqlite-schema.ts';

/** Content of the files of a data folder that a backup contains, by name: the rows of databases, the text of secrets. */
export type SavedData = Readonly<Record<string, unknown>>;

/** Reads the files of a data folder that a backup contains. */
export function readSavedData(folder: string): SavedData {
  const names = savedFiles.filter((name) => existsSync(`${folder}/${name}`));
  const read = (name: (typeof savedFiles)[number]) => {
    const path = `${folder}/${name}`;
    return savedDatabases.some((one) => one === name)
      ? dumpDatabase(path)
      : readFileSync(path, 'utf8');
  };
  return Object.fromEntries(names.map((name) => [name, read(name)]));
}

/** Returns the schema and all rows of a database, by table. @throws Error if the database is damaged */
export function dumpDatabase(path: string): Readonly<Record<string, readonly unknown[]>> {
  return withDatabase(path, (database) => {
    const damage = database.prepare('PRAGMA integrity_check').pluck().all();
    if (damage.join() !== 'ok') throw new Error(`${path}: ${damage.join()}`);
    const tables = database
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .pluck()
      .all();
    // The columns of contentless indexes cannot be read; their rows are in tables of their own.
    const rows = tables.map((name) => [name, database.prepare(`SELECT * FROM "${name}"`).all()]);
    return Object.fromEntries(rows);
  });
}

/** Opens an existing database, calls `use`, and closes the database. */
export function withDatabase<Value>(path: string, use: (database: SqliteDatabase) => Value): Value {
  const database = connectSqlite({ path, mustExist: true });
  try {
    return use(database);
  } finally {
    database.close();
  }
}

/** Creates a data folder with databases and secrets, whose contents contain `mark`. */
export function writeData(folder: string, mark: string): void {
  const secret = Buffer.from(mark.padEnd(32, '.')).toString('hex');
  const fill = (name: string, migrations: readonly Migration[], sql: string) => {
    const journal = name === 'perch.db' ? 'rollback' : 'wal';
    const database = openSqlite({ path: `${folder}/${name}`, migrations, journal });
    database.prepare(sql).run(mark);
    database.close();
  };
  fill('archive.db', archiveMigrations, "INSERT INTO facts VALUES ('mark', ?)");
  fill(
    'perch.db',
    keyMigrations,
    "INSERT INTO keys VALUES ('hash', 'id', ?, 1, NULL, 1, NULL, NULL)",
  );
  fill('sessions.db', sessionMigrations, 'INSERT INTO purged VALUES (?, 1)');
  for (const name of ['cursor.key', 'session.key']) writeSecret(`${folder}/${name}`, secret);
  writeSecret(`${folder}/actor.key`, createRsaKey());
}

function writeSecret(path: string, secret: string): void {
  writeFileSync(path, `${secret}\n`, { mode: 0o600 });
}

/** Returns the names in a data folder of files and folders that a restore has left. */
export function listLeftovers(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.startsWith('restore.'));
}
