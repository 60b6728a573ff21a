import { createHash } from 'node:crypto';
import { createReadStream, rmSync, statfsSync } from 'node:fs';
import * as z from 'zod';
import { keyMigrations } from '../../access/keys/key-rows.ts';
import { migrations as archiveMigrations } from '../../archive/store/schema.ts';
import {
  journalSuffixes,
  type SavedName,
  type savedDatabases,
  savedFiles,
} from '../../lib/files/data-folder.ts';
import { withPath } from '../../lib/files/private-files.ts';
import {
  connectSqlite,
  errorCodeOf,
  type Migration,
  NewerSchemaError,
  openSqlite,
  type SqliteDatabase,
  UnusableFileError,
} from '../../lib/files/sqlite.ts';
import { readSecret, secretFormOf, UnusableSecretError } from '../../lib/secret.ts';
import { sessionMigrations } from '../../sessions/store/sqlite-schema.ts';
import { CommandError } from '../command.ts';
import { countOf } from '../output/output.ts';

/** Name of the first file of a backup, which describes the other files. */
export const manifestName = 'manifest.json';

/** Pattern of the paths of media files in a backup. Captures the SHA-256 hash of the content. */
export const mediaName = /^media\/[0-9a-f]{2}\/([0-9a-f]{64})$/;

export const manifest = z.object({
  perch_backup: z.literal(1),
  /** Version of Perch that created the backup. */
  perch: z.string().regex(/^[\w.+-]{1,40}$/),
  created: z.iso.datetime(),
  /** Whether keys, sessions and secrets were in Valkey or Redis, and so are not in the backup. */
  shared_engine: z.boolean(),
  files: z
    .array(
      z.object({
        name: z.enum(savedFiles),
        bytes: z.int().nonnegative(),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
      }),
    )
    .min(1),
  /** Count and bytes of media files, which `files` omits: their names contain their hashes. */
  media: z
    .object({ files: z.int().nonnegative(), bytes: z.int().nonnegative() })
    .default({ files: 0, bytes: 0 }),
});

export type Manifest = Readonly<z.output<typeof manifest>>;

/** Lists the files of a backup for the user: `archive.db, cursor.key, 2 media files`. */
export function listContents({ files, media }: Manifest): string {
  const names: string[] = files.map(({ name }) => name);
  return [...names, ...(media.files > 0 ? [countOf(media.files, 'media file')] : [])].join(', ');
}

/** Checks the disk of `folder`. @throws CommandError if fewer than `bytes` bytes are free */
export function requireSpace(folder: string, bytes: number): void {
  const free = freeBytesOf(folder);
  if (free >= bytes) return;
  throw new CommandError(
    'upstream',
    `The disk with ${folder} has ${toSize(free)} free, but the command needs ${toSize(bytes)}. Free some space and run the command again.`,
  );
}

/** Returns the free bytes of the disk with `folder`. */
export function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

export function toSize(bytes: number): string {
  const megabytes = bytes / 1e6;
  return megabytes < 1000 ? `${megabytes.toFixed(1)} MB` : `${(megabytes / 1000).toFixed(1)} GB`;
}

const migrations: Readonly<Record<string, readonly Migration[]>> = {
  'archive.db': archiveMigrations,
  'perch.db': keyMigrations,
  'sessions.db': sessionMigrations,
} satisfies Record<(typeof savedDatabases)[number], readonly Migration[]>;

/** Returns the newest supported schema version; `undefined` for a file that no backup contains. */
export const newestSchemaOf = (name: string): number | undefined => migrations[name]?.length;

/**
 * Checks that a secret is valid, or that a database is intact and has the tables, triggers and
 * views of Perch. No other process may use the file.
 * @throws UnusableFileError if the check fails; Error with `path` if the file cannot be read
 */
export function checkContent(path: string, name: SavedName, label: string): void {
  const known = migrations[name];
  try {
    if (known === undefined) readSecret(path);
    else checkDatabase(path, known, label);
  } catch (error) {
    if (!(error instanceof UnusableSecretError)) throw error;
    const fault = `${label} does not contain ${secretFormOf(path).noun}.`;
    throw new UnusableFileError(fault, { cause: error });
  }
}

function checkDatabase(path: string, known: readonly Migration[], label: string): void {
  const database = connectSqlite({ path, mustExist: true });
  try {
    withPath(path, () => checkOpened(database, known, label));
  } catch (error) {
    if (!/^SQLITE_(?:CORRUPT|NOTADB|ERROR|SCHEMA|FORMAT)/.test(errorCodeOf(error) ?? ''))
      throw error;
    throw new UnusableFileError(`${label} is damaged, or is not a database.`, { cause: error });
  } finally {
    database.close();
    for (const suffix of journalSuffixes) rmSync(`${path}${suffix}`, { force: true });
  }
}

function checkOpened(database: SqliteDatabase, known: readonly Migration[], label: string): void {
  // The file can come from anyone, so its triggers, views and defaults call only harmless
  // functions.
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON');
  const version = database.prepare<[], number>('PRAGMA user_version').pluck().get() ?? 0;
  if (version > known.length) throw new NewerSchemaError(label, version);
  const found = database.prepare<[], string>('PRAGMA integrity_check(1)').pluck().get() ?? '';
  // The first line can be the name of the database. The last line describes the fault.
  if (found !== 'ok')
    throw new UnusableFileError(`${label} is damaged: ${found.split('\n').at(-1)}.`);
  if (version < 1 || isForeign(database, known.slice(0, version)))
    throw new UnusableFileError(`${label} is not a database of Perch.`);
}

/** Returns whether a table of Perch is missing, or a trigger or view differs from Perch's. */
function isForeign(database: SqliteDatabase, known: readonly Migration[]): boolean {
  const own = openSqlite({ path: ':memory:', migrations: known });
  try {
    const [expected, found] = [readSchema(own), readSchema(database)];
    return (
      expected.some((entry) => !found.includes(entry)) ||
      found.some((entry) => !entry.startsWith('table ') && !expected.includes(entry))
    );
  } finally {
    own.close();
  }
}

/** Returns the names of all tables, and the statements of all triggers and views. */
function readSchema(database: SqliteDatabase): readonly string[] {
  const entries = database.prepare<[], string>(
    `SELECT type || ' ' || name || iif(type = 'table', '', ' ' || sql) FROM sqlite_schema
     WHERE type <> 'index' LIMIT 1000`,
  );
  // Line breaks and indentation do not change a statement.
  return entries
    .pluck()
    .all()
    .map((entry) => entry.replaceAll(/\s+/g, ' '));
}

export async function measureFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
