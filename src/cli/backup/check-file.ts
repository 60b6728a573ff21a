import { createHash } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { keyMigrations } from '../../access/keys/key-rows.ts';
import { migrations as archiveMigrations } from '../../archive/store/schema.ts';
import { journalSuffixes, type SavedName, savedDatabases } from '../../core/files/data-folder.ts';
import { withPath } from '../../core/files/private-files.ts';
import {
  connectSqlite,
  errorCodeOf,
  type Migration,
  NewerSchemaError,
  openSqlite,
  type SqliteDatabase,
  UnusableFileError,
} from '../../core/files/sqlite.ts';
import { readSecret, UnusableSecretError } from '../../core/secret.ts';
import { sessionMigrations } from '../../sessions/store/sqlite-schema.ts';
import type { SavedFile } from './manifest.ts';

const migrations: Readonly<Record<(typeof savedDatabases)[number], readonly Migration[]>> = {
  'archive.db': archiveMigrations,
  'perch.db': keyMigrations,
  'sessions.db': sessionMigrations,
};

const isDatabase = (name: SavedName): name is keyof typeof migrations =>
  savedDatabases.some((one) => one === name);

/** Returns the newest supported schema version; `null` for a file that is not a database. */
export const newestSchemaOf = (name: SavedName): number | null =>
  isDatabase(name) ? migrations[name].length : null;

/**
 * Checks that a secret is valid, or that a database is intact and has the tables, triggers and
 * views of Perch. No other process may use the file. Returns the schema version; `null` for a
 * secret.
 * @throws UnusableFileError if the check fails; Error with `path` if the file cannot be read
 */
export function checkContent(path: string, name: SavedName, label: string): number | null {
  if (isDatabase(name)) return checkDatabase(path, migrations[name], label);
  try {
    readSecret(path);
    return null;
  } catch (error) {
    if (!(error instanceof UnusableSecretError)) throw error;
    const fault = `${label} does not contain a secret of 64 hex digits.`;
    throw new UnusableFileError(fault, { cause: error });
  }
}

function checkDatabase(path: string, known: readonly Migration[], label: string): number {
  const database = connectSqlite({ path, mustExist: true });
  try {
    return withPath(path, () => checkOpened(database, known, label));
  } catch (error) {
    if (!/^SQLITE_(?:CORRUPT|NOTADB|ERROR|SCHEMA|FORMAT)/.test(errorCodeOf(error) ?? ''))
      throw error;
    throw new UnusableFileError(`${label} is damaged, or is not a database.`, { cause: error });
  } finally {
    database.close();
    for (const suffix of journalSuffixes) rmSync(`${path}${suffix}`, { force: true });
  }
}

function checkOpened(database: SqliteDatabase, known: readonly Migration[], label: string): number {
  // The file can come from anyone, so its triggers, views and defaults call only harmless
  // functions.
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON');
  const version = database.prepare<[], number>('PRAGMA user_version').pluck().get() ?? 0;
  if (version > known.length) throw new NewerSchemaError(label, version);
  const found = database.prepare<[], string>('PRAGMA integrity_check(1)').pluck().get() ?? '';
  // The first line can be the name of the database. The last line describes the fault.
  if (found !== 'ok')
    throw new UnusableFileError(`${label} is damaged: ${found.split('\n').at(-1)}.`);
  if (version < 1) throw new UnusableFileError(`${label} is not a database of Perch.`);
  const fault = findForeign(database, known.slice(0, version));
  if (fault === undefined) return version;
  throw new UnusableFileError(`${label} is not a database of Perch: ${fault}.`);
}

interface SchemaEntry {
  readonly type: string;
  readonly name: string;
  readonly sql: string | null;
}

function findForeign(database: SqliteDatabase, known: readonly Migration[]): string | undefined {
  const own = openSqlite({ path: ':memory:', migrations: known });
  try {
    const expected = readSchema(own);
    const found = readSchema(database);
    const has = (entries: readonly SchemaEntry[], { type, name, sql }: SchemaEntry) =>
      entries.some(
        (one) => one.type === type && one.name === name && (type === 'table' || one.sql === sql),
      );
    const missing = expected.find((entry) => !has(found, entry));
    if (missing !== undefined) return `it has no ${missing.type} ${missing.name}`;
    const foreign = found.find((entry) => entry.type !== 'table' && !has(expected, entry));
    return foreign && `Perch has not created its ${foreign.type} ${foreign.name}`;
  } finally {
    own.close();
  }
}

function readSchema(database: SqliteDatabase): readonly SchemaEntry[] {
  const select = "SELECT type, name, sql FROM sqlite_schema WHERE type <> 'index' LIMIT 1000";
  const entries = database.prepare<[], SchemaEntry>(select).all();
  // Line breaks and indentation do not change a statement.
  return entries.map(({ sql, ...entry }) => ({
    ...entry,
    sql: sql?.replaceAll(/\s+/g, ' ') ?? null,
  }));
}

export async function measureFile(path: string): Promise<Pick<SavedFile, 'bytes' | 'sha256'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
