import { createHash } from 'node:crypto';
import { createReadStream, rmSync, statfsSync } from 'node:fs';
import * as z from 'zod';
import { keyMigrations } from '../../access/keys/key-rows.ts';
import { migrations as archiveMigrations } from '../../archive/store/schema.ts';
import {
  journalSuffixes,
  type SavedName,
  savedDatabases,
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
import { parseJson } from '../../lib/parse-json.ts';
import { readSecret, secretFormOf, UnusableSecretError } from '../../lib/secret.ts';
import { sessionMigrations } from '../../sessions/store/sqlite-schema.ts';
import { CommandError } from '../command.ts';
import { countOf } from '../output/output.ts';

const formatVersion = 1;

/** Name of the first file of a backup, which describes the other files. */
export const manifestName = 'manifest.json';
export const maxManifestBytes = 65_536;

/** Pattern of the paths of media files in a backup. Captures the SHA-256 hash of the content. */
export const mediaName = /^media\/[0-9a-f]{2}\/([0-9a-f]{64})$/;

const savedFile = z.object({
  name: z.enum(savedFiles),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Schema version of a database; `null` for other files. */
  schema: z.int().positive().nullable(),
});

const manifest = z.object({
  perch_backup: z.literal(formatVersion),
  /** Version of Perch that created the backup. */
  perch: z.string().regex(/^[\w.+-]{1,40}$/),
  created: z.iso.datetime(),
  /** Whether keys, sessions and secrets were in Valkey or Redis, and so are not in the backup. */
  shared_engine: z.boolean(),
  files: z.array(savedFile).min(1).max(savedFiles.length),
  /** Count and bytes of media files, which `files` omits: their names contain their hashes. */
  media: z
    .object({ files: z.int().nonnegative(), bytes: z.int().nonnegative() })
    .default({ files: 0, bytes: 0 }),
});

export type SavedFile = Readonly<z.output<typeof savedFile>>;

export type Manifest = Readonly<z.output<typeof manifest>>;

export const listMediaCount = ({ files }: Manifest['media']): readonly string[] =>
  files === 0 ? [] : [countOf(files, 'media file')];

export function createManifest(fields: Omit<Manifest, 'perch_backup'>): Manifest {
  return { perch_backup: formatVersion, ...fields };
}

const anyVersion = z.object({
  perch_backup: z.int().positive(),
  perch: z.string().max(40).optional(),
});

/** Parses a manifest. @throws CommandError if it is invalid or of a newer version of Perch */
export function parseManifest(text: string, path: string): Manifest {
  const content = parseJson(text);
  const parsed = manifest.safeParse(content);
  const names = parsed.data?.files.map(({ name }) => name) ?? [];
  if (parsed.success && new Set(names).size === names.length) return parsed.data;
  const claimed = anyVersion.safeParse(content);
  if (claimed.success && claimed.data.perch_backup > formatVersion) {
    throw madeByNewer(path, claimed.data.perch);
  }
  throw notABackup(path);
}

export function madeByNewer(path: string, version = 'unknown'): CommandError {
  const fault = `${path} was made by a newer version of Perch (${version}). Install that version or a later one, and run the command again.`;
  return new CommandError('upstream', fault);
}

export function notABackup(path: string, cause?: unknown): CommandError {
  const fault = `${path} is not a backup of Perch, or it is incomplete. Choose a file that \`perch backup\` has written.`;
  return new CommandError('usage', fault, { cause });
}

/** Checks the disk of `folder`. @throws CommandError if fewer than `bytes` bytes are free */
export function requireSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  if (free >= bytes) return;
  throw new CommandError(
    'upstream',
    `The disk with ${folder} has ${toSize(free)} free, but the command needs ${toSize(bytes)}. Free some space and run the command again.`,
  );
}

export function toSize(bytes: number): string {
  const megabytes = bytes / 1e6;
  return megabytes < 1000 ? `${megabytes.toFixed(1)} MB` : `${(megabytes / 1000).toFixed(1)} GB`;
}

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
    const fault = `${label} does not contain ${secretFormOf(path).noun}.`;
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
