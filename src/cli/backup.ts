import {
  createWriteStream,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { Config } from '../config/config.ts';
import { systemClock, toIsoSeconds } from '../lib/clock.ts';
import {
  journalSuffixes,
  mediaFolderName,
  type SavedName,
  savedDatabases,
  savedFiles,
  savedSecrets,
} from '../lib/files/data-folder.ts';
import { FileLockedError, lockFile } from '../lib/files/file-lock.ts';
import { isCode, isMissing, syncFolder } from '../lib/files/private-files.ts';
import { BusyDatabasesError, takeSnapshots } from '../lib/files/snapshot.ts';
import { connectSqlite } from '../lib/files/sqlite.ts';
import { version } from '../lib/version.ts';
import {
  checkContent,
  createManifest,
  listMediaCount,
  type Manifest,
  manifestName,
  measureFile,
  mediaName,
  requireSpace,
  type SavedFile,
  toSize,
} from './backup/manifest.ts';
import {
  type CommandBody,
  type CommandContext,
  CommandError,
  UsageError,
  withOptions,
} from './command.ts';
import { explainOpenError } from './output/explain.ts';
import { explainWriteErrors } from './output/output.ts';
import { withStopSignal } from './stop-signal.ts';
import { dataFolderOf } from './stores.ts';

export const backupCommand: CommandBody = {
  details: `The backup is a zip file with the archive, the keys, the sessions and the secrets, as they are at one moment.
The server can run at the same time. Anyone who can read the backup can read this data. \`perch restore\` restores it.`,
  exits:
    'Exit code: 0 success, 2 bad usage or FILE exists, 3 data not readable or backup not writable.',
  ...withOptions(
    { force: { type: 'boolean', about: 'Replaces an existing FILE.' } },
    ({ force = false }, [file, ...more]) => {
      if (file === undefined || file === '' || more.length > 0) {
        throw new UsageError('Name one FILE for the backup, or - for standard output.');
      }
      return (context) =>
        withStopSignal((signal) =>
          file === '-'
            ? backUpToOutput({ context, signal })
            : backUpToFile(resolve(file), force, { context, signal }),
        );
    },
  ),
};

interface BackupOptions {
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

async function backUpToOutput(options: BackupOptions): Promise<void> {
  const { stdout, stderr } = options.context;
  const { stream } = stdout;
  if (stdout.isTerminal || stream === null) {
    throw new UsageError('A backup is a binary file. Redirect standard output to a file.');
  }
  const source = mkdtempSync(join(tmpdir(), 'perch-backup-')); // accessible only to this user
  try {
    await explainWriteErrors('Standard output', async () => {
      const manifest = await write(options, source, () => stream);
      stderr.write(`perch: Wrote the backup to standard output: ${list(manifest)}\n`);
      noteSharedEngine(options.context, manifest);
    });
  } finally {
    rmSync(source, { recursive: true, force: true });
  }
}

async function backUpToFile(path: string, force: boolean, options: BackupOptions): Promise<void> {
  await explainWriteErrors(path, async () => {
    requireNew(path, force);
    const part = `${path}.part`;
    const lock = openPart(part, path);
    try {
      const { stdout, config } = options.context;
      const draft = `${part}/${basename(path)}`;
      const open = () => createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
      const manifest = await write(options, part, open);
      const size = toSize(statSync(draft).size);
      publish(draft, path, force);
      stdout.write(`Backed up ${config.PERCH_DATA_DIR} to ${path} (${size}): ${list(manifest)}\n`);
      noteSharedEngine(options.context, manifest);
    } finally {
      lock.release();
      rmSync(part, { recursive: true, force: true });
    }
  });
}

async function write(
  { context, signal }: BackupOptions,
  source: string,
  open: () => Writable,
): Promise<Manifest> {
  const { config, stderr, stdout } = context;
  const folder = dataFolderOf(context, 'the backup');
  const onStep = (text: string) => stderr.showLine(`perch: ${text}`);
  try {
    const copies = { folder, target: source, signal, onStep };
    const copied = await copyData(copies, config).catch((error) => {
      throw error instanceof CommandError || signal.aborted ? error : toCopyFault(error, config);
    });
    stderr.clearLine();
    const output = open();
    await writeBackup(
      { ...copied, source, folder, keepOpen: output === stdout.stream },
      output,
      signal,
    );
    return copied.manifest;
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CommandError('upstream', 'The backup was stopped. No file was written.');
  } finally {
    stderr.clearLine();
  }
}

function toCopyFault(cause: unknown, config: Config): CommandError {
  const fault =
    cause instanceof BusyDatabasesError
      ? `${cause.message} Run the command again when fewer changes are made.`
      : explainOpenError(cause, config);
  return new CommandError('upstream', fault, { cause });
}

function requireNew(path: string, force: boolean): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isFile()) {
    const fault = `${path} exists and is not a regular file. Name a file for the backup.`;
    throw new CommandError('usage', fault);
  }
  if (force) return;
  const fault = `${path} already exists. Choose another name, or replace the file with --force.`;
  throw new CommandError('usage', fault);
}

function openPart(part: string, path: string) {
  try {
    mkdirSync(part, { mode: 0o700 });
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error;
    lockPart(part, path).release();
    rmSync(part, { recursive: true });
    mkdirSync(part, { mode: 0o700 });
  }
  try {
    return lockPart(part, path);
  } catch (error) {
    if (isCode(error, 'SQLITE_FULL')) rmSync(part, { recursive: true });
    throw error;
  }
}

function lockPart(part: string, path: string) {
  try {
    return lockFile(`${part}/lock`);
  } catch (cause) {
    if (!(cause instanceof FileLockedError)) throw cause;
    const fault = `Another backup to ${path} is running. Wait until it has ended, or choose another name.`;
    throw new CommandError('upstream', fault, { cause });
  }
}

function publish(draft: string, path: string, force: boolean): void {
  try {
    if (force) renameSync(draft, path);
    else linkSync(draft, path);
  } catch (error) {
    if (force || isCode(error, 'EEXIST')) {
      requireNew(path, force);
      throw error;
    }
    // Some file systems, such as exFAT, have no hard links.
    requireNew(path, force);
    renameSync(draft, path);
  }
  syncFolder(dirname(path));
}

const list = ({ files, media }: Manifest): string =>
  [...files.map(({ name }) => name), ...listMediaCount(media)].join(', ');

function noteSharedEngine({ stderr }: CommandContext, { shared_engine }: Manifest): void {
  if (!shared_engine) return;
  stderr.write(
    'perch: The keys, the sessions and the secrets are in the shared engine at PERCH_REDIS_URL, so they are not in this backup. Back up the shared engine too; see docs/backup.md.\n',
  );
}

interface CopyOptions {
  /** Data folder to back up. Other processes may use the folder at the same time. */
  readonly folder: string;
  readonly target: string;
  readonly signal: AbortSignal;
  /** Called with a message before each file is copied or checked. */
  readonly onStep: (text: string) => void;
}

/** Maximum time in milliseconds to wait for the write locks of all databases. */
const lockTimeoutMs = 30_000;

/**
 * Copies a consistent snapshot of the databases and secrets, and checks the copies. Media files are
 * only listed: the backup reads them from the data folder, because they never change.
 * @throws CommandError if there is no data or too little disk space; UnusableFileError for a
 *   damaged file; Error with `path` if a file cannot be read or written
 */
async function copyData(options: CopyOptions, { PERCH_REDIS_URL: engine }: Config) {
  const { folder, target, signal, onStep } = options;
  const names = savedFiles.filter((name) => !isMissing(`${folder}/${name}`));
  if (names.length === 0) {
    const fault = `The data directory ${folder} contains no data of Perch. Set PERCH_DATA_DIR to the data directory of your server.`;
    throw new CommandError('usage', fault);
  }
  // Twice the size: for the copies, and for the backup, which is smaller than the copies.
  requireSpace(target, 2 * sizeOf(folder, names));
  const created = toIsoSeconds(systemClock.now());
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
  const facts = { perch: version, created, shared_engine: engine !== undefined };
  return { manifest: createManifest({ ...facts, files, media: total }), media };
}

function listMedia(archivePath: string, folder: string) {
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
  { folder, target, signal, onStep }: CopyOptions,
  names: readonly SavedName[],
): Promise<void> {
  // `perch.db` stays locked until it is copied, and other processes wait for it, so it is copied
  // first.
  const found = savedDatabases.filter((name) => names.includes(name)).sort(keysFirst);
  const paths = found.map((name) => `${folder}/${name}`);
  const snapshots = await takeSnapshots({ paths, clock: systemClock, timeoutMs: lockTimeoutMs });
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

interface WriteOptions extends Awaited<ReturnType<typeof copyData>> {
  readonly source: string;
  readonly folder: string;
  readonly keepOpen: boolean;
}

/** Writes the copied files as a zip file to a stream. Ends the stream unless `keepOpen` is set. */
async function writeBackup(
  { manifest, media, source, folder, keepOpen }: WriteOptions,
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
