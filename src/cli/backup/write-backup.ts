import { existsSync, rmSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { type Clock, toIsoSeconds } from '../../core/clock.ts';
import {
  journalSuffixes,
  mediaFolderName,
  type SavedName,
  savedDatabases,
  savedFiles,
  savedSecrets,
} from '../../core/files/data-folder.ts';
import { isMissing } from '../../core/files/private-files.ts';
import { takeSnapshots } from '../../core/files/snapshot.ts';
import { connectSqlite } from '../../core/files/sqlite.ts';
import { version } from '../../core/version.ts';
import { CommandError } from '../command.ts';
import {
  checkContent,
  createManifest,
  type Manifest,
  manifestName,
  measureFile,
  mediaName,
  requireSpace,
  type SavedFile,
} from './manifest.ts';

/** Archived media file. `name` is its path in both the data folder and the backup. */
interface SavedMedia {
  readonly name: string;
  readonly bytes: number;
}

interface CopyOptions {
  /** Data folder to back up. Other processes may use the folder at the same time. */
  readonly folder: string;
  readonly target: string;
  /** Whether keys, sessions and secrets are stored in a Valkey or Redis server. */
  readonly hasSharedEngine: boolean;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with a message before each file is copied or checked. */
  readonly onStep: (text: string) => void;
}

/** Maximum time in milliseconds to wait for the write locks of all databases. */
const lockTimeoutMs = 30_000;

export interface Copied {
  readonly manifest: Manifest;
  /** Media files, read from the data folder without temporary copies: they never change. */
  readonly media: readonly SavedMedia[];
}

/**
 * Copies a consistent snapshot of the databases and secrets, and checks the copies. Media files are
 * only listed.
 * @throws CommandError if there is no data or too little disk space; UnusableFileError for a
 *   damaged file; Error with `path` if a file cannot be read or written
 */
export async function copyData(options: CopyOptions): Promise<Copied> {
  const { folder, target, clock, signal, onStep, hasSharedEngine } = options;
  const names = savedFiles.filter((name) => !isMissing(`${folder}/${name}`));
  if (names.length === 0) {
    const fault = `The data directory ${folder} contains no data of Perch. Set PERCH_DATA_DIR to the data directory of your server.`;
    throw new CommandError('usage', fault);
  }
  // Twice the size: for the copies, and for the backup, which is smaller than the copies.
  requireSpace(target, 2 * sizeOf(folder, names));
  const created = toIsoSeconds(clock.now());
  await copyDatabases(options, names);
  const media = listMedia(`${target}/archive.db`, folder);
  const total = {
    files: media.length,
    bytes: media.reduce((sum, { bytes }) => sum + bytes, 0),
  };
  requireSpace(target, total.bytes + sizeOf(folder, names));
  // A secret is created before the data that depends on it, and never changes, so it can be copied
  // after the databases.
  for (const name of savedSecrets) {
    if (names.includes(name)) await copyFile(`${folder}/${name}`, `${target}/${name}`);
  }
  const files: SavedFile[] = [];
  for (const name of names) {
    signal.throwIfAborted();
    onStep(`Checking ${name}`);
    const schema = checkContent(`${target}/${name}`, name, `${folder}/${name}`);
    files.push({ name, schema, ...(await measureFile(`${target}/${name}`)) });
  }
  const facts = { perch: version, created, shared_engine: hasSharedEngine };
  return { manifest: createManifest({ ...facts, files, media: total }), media };
}

/** Lists the archive's media files, without those that are missing in `folder`. */
function listMedia(archivePath: string, folder: string): readonly SavedMedia[] {
  if (!existsSync(archivePath)) return [];
  const database = connectSqlite({ path: archivePath, mustExist: true });
  try {
    const table = "SELECT 1 FROM sqlite_schema WHERE name = 'media_copies'";
    if (database.prepare(table).get() === undefined) return [];
    const rows = database.prepare<[], { readonly hash: string; readonly bytes: number }>(
      'SELECT hash, bytes FROM media_copies ORDER BY hash',
    );
    return rows
      .all()
      .map(({ hash, bytes }) => ({ name: `${mediaFolderName}/${hash.slice(0, 2)}/${hash}`, bytes }))
      .filter(
        ({ name, bytes }) =>
          mediaName.test(name) &&
          statSync(`${folder}/${name}`, { throwIfNoEntry: false })?.size === bytes,
      );
  } finally {
    database.close();
    for (const suffix of journalSuffixes) rmSync(`${archivePath}${suffix}`, { force: true });
  }
}

function sizeOf(folder: string, names: readonly SavedName[]): number {
  const paths = names.flatMap((name) =>
    ['', ...journalSuffixes].map((end) => `${folder}/${name}${end}`),
  );
  return paths.reduce(
    (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

async function copyDatabases(
  { folder, target, clock, signal, onStep }: CopyOptions,
  names: readonly SavedName[],
): Promise<void> {
  // `perch.db` stays locked until it is copied, and other processes wait for it, so it is copied
  // first.
  const found = savedDatabases.filter((name) => names.includes(name)).sort(keysFirst);
  const paths = found.map((name) => `${folder}/${name}`);
  const snapshots = await takeSnapshots({ paths, clock, timeoutMs: lockTimeoutMs });
  try {
    for (const name of found) {
      onStep(`Copying ${name}`);
      await snapshots.copy(`${folder}/${name}`, { target: `${target}/${name}`, signal });
    }
  } finally {
    snapshots.close();
  }
}

const keysFirst = (one: SavedName, other: SavedName): number =>
  Number(other === 'perch.db') - Number(one === 'perch.db');

interface WriteOptions extends Copied {
  readonly source: string;
  readonly folder: string;
  readonly keepOpen?: boolean;
}

/** Writes the copied files as a zip file to a stream. Ends the stream unless `keepOpen` is set. */
export async function writeBackup(
  { manifest, media, source, folder, keepOpen = false }: WriteOptions,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const zip = new ZipFile();
  const attributes = { mtime: new Date(manifest.created), mode: 0o100600 };
  const failed = new Promise<never>((_, reject) => zip.on('error', reject));
  zip.addBuffer(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`), manifestName, attributes);
  for (const { name } of manifest.files) zip.addFile(`${source}/${name}`, name, attributes);
  // The formats of media files are already compressed.
  const stored = { ...attributes, compress: false };
  for (const { name } of media) zip.addFile(`${folder}/${name}`, name, stored);
  zip.end();
  await Promise.race([failed, pipeline(zip.outputStream, output, { signal, end: !keepOpen })]);
}
