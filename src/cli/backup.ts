import {
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { systemClock, toIsoSeconds } from '../lib/clock.ts';
import { journalSuffixes, savedDatabases, savedFiles } from '../lib/files/data-folder.ts';
import { FileLockedError, lockFile } from '../lib/files/file-lock.ts';
import { isCode, isMissing, syncFolder } from '../lib/files/private-files.ts';
import { BusyDatabasesError, copyDatabases } from '../lib/files/snapshot.ts';
import { connectSqlite } from '../lib/files/sqlite.ts';
import { version } from '../lib/version.ts';
import {
  checkContent,
  listContents,
  type Manifest,
  manifestName,
  measureFile,
  requireSpace,
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
            ? backUpToOutput(context, signal)
            : backUpToFile(resolve(file), force, { context, signal }),
        );
    },
  ),
};

async function backUpToOutput(context: CommandContext, signal: AbortSignal): Promise<void> {
  const { stream, isTerminal } = context.stdout;
  if (isTerminal || stream === null) {
    throw new UsageError('A backup is a binary file. Redirect standard output to a file.');
  }
  const work = mkdtempSync(join(tmpdir(), 'perch-backup-')); // accessible only to this user
  try {
    await explainWriteErrors('Standard output', async () => {
      const manifest = await backUp({ context, signal, work, open: () => stream });
      const contents = listContents(manifest);
      context.stderr.write(`perch: Wrote the backup to standard output: ${contents}\n`);
      noteSharedEngine(context, manifest);
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function backUpToFile(
  path: string,
  force: boolean,
  { context, signal }: Pick<BackupOptions, 'context' | 'signal'>,
): Promise<void> {
  await explainWriteErrors(path, async () => {
    requireNew(path, force);
    const work = `${path}.part`;
    const lock = openWorkFolder(work, path);
    try {
      const draft = `${work}/draft`;
      const open = () => createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
      const manifest = await backUp({ context, signal, work, open });
      const size = toSize(statSync(draft).size);
      requireNew(path, force); // another program can have created the file meanwhile
      renameSync(draft, path);
      syncFolder(dirname(path));
      const { stdout, config } = context;
      const contents = listContents(manifest);
      stdout.write(`Backed up ${config.PERCH_DATA_DIR} to ${path} (${size}): ${contents}\n`);
      noteSharedEngine(context, manifest);
    } finally {
      lock.release();
      rmSync(work, { recursive: true, force: true });
    }
  });
}

function requireNew(path: string, force: boolean): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || (force && found.isFile())) return;
  const fault = found.isFile()
    ? 'already exists. Choose another name, or replace the file with --force.'
    : 'exists and is not a regular file. Name a file for the backup.';
  throw new CommandError('usage', `${path} ${fault}`);
}

/** Creates and locks the folder, which replaces that of a killed backup. */
function openWorkFolder(work: string, path: string) {
  try {
    if (existsSync(work)) {
      lockFile(`${work}/lock`).release();
      rmSync(work, { recursive: true });
    }
    mkdirSync(work, { mode: 0o700 });
    return lockFile(`${work}/lock`);
  } catch (cause) {
    if (isCode(cause, 'SQLITE_FULL')) rmSync(work, { recursive: true });
    if (!(cause instanceof FileLockedError)) throw cause;
    const fault = `Another backup to ${path} is running. Wait until it has ended, or choose another name.`;
    throw new CommandError('upstream', fault, { cause });
  }
}

function noteSharedEngine({ stderr }: CommandContext, { shared_engine }: Manifest): void {
  if (!shared_engine) return;
  stderr.write(
    'perch: The keys, the sessions and the secrets are in the shared engine at PERCH_REDIS_URL, so they are not in this backup. Back up the shared engine too; see docs/backup.md.\n',
  );
}

interface BackupOptions {
  readonly context: CommandContext;
  readonly signal: AbortSignal;
  /** Folder for the copies of the files. */
  readonly work: string;
  /** Opens the output, once all files are copied and checked. */
  readonly open: () => Writable;
}

async function backUp(options: BackupOptions): Promise<Manifest> {
  const { context, signal } = options;
  const folder = dataFolderOf(context, 'the backup');
  try {
    const { manifest, media } = await copyData(folder, options).catch((error) => {
      if (error instanceof CommandError || signal.aborted) throw error;
      throw new CommandError('upstream', explainCopyError(error, context), { cause: error });
    });
    const [copies, mediaFiles] = [manifest.files.map(({ name }) => name), [...media.keys()]];
    const zip = new ZipFile();
    const attributes = { mtime: new Date(manifest.created), mode: 0o100600 };
    const failed = new Promise<never>((_, reject) => zip.on('error', reject));
    zip.addBuffer(Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`), manifestName, attributes);
    for (const name of copies) zip.addFile(`${options.work}/${name}`, name, attributes);
    // The formats of media files are already compressed.
    const stored = { ...attributes, compress: false };
    for (const name of mediaFiles) zip.addFile(`${folder}/${name}`, name, stored);
    zip.end();
    const output = options.open();
    const end = output !== context.stdout.stream;
    await Promise.race([failed, pipeline(zip.outputStream, output, { signal, end })]);
    return manifest;
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new CommandError('upstream', 'The backup was stopped. No file was written.');
  } finally {
    context.stderr.clearLine();
  }
}

function explainCopyError(error: unknown, { config }: CommandContext): string {
  if (!(error instanceof BusyDatabasesError)) return explainOpenError(error, config);
  return `${error.message} Run the command again when fewer changes are made.`;
}

/** Maximum time in milliseconds to wait for the write locks of all databases. */
const lockTimeoutMs = 30_000;

/**
 * Copies a consistent snapshot of the databases and secrets, and checks the copies. Media files are
 * only listed: the backup reads them from the data folder, because they never change.
 */
async function copyData(folder: string, { context, signal, work: target }: BackupOptions) {
  const names = savedFiles.filter((name) => !isMissing(`${folder}/${name}`));
  if (names.length === 0) {
    const fault = `The data directory ${folder} contains no data of Perch. Set PERCH_DATA_DIR to the data directory of your server.`;
    throw new CommandError('usage', fault);
  }
  const show = (text: string) => context.stderr.showLine(`perch: ${text}`);
  const paths = names.flatMap((name) => ['', ...journalSuffixes].map((end) => `${name}${end}`));
  const size = sum(paths.map((name) => sizeOf(`${folder}/${name}`) ?? 0));
  // Twice the size: for the copies, and for the backup, which is smaller than the copies.
  requireSpace(target, 2 * size);
  const created = toIsoSeconds(systemClock.now());
  await copyDatabases({
    ...{ folder, target, clock: systemClock, timeoutMs: lockTimeoutMs, signal },
    names: savedDatabases.filter((name) => names.includes(name)),
    onCopy: (name) => show(`Copying ${name}`),
  });
  const files: Manifest['files'] = [];
  for (const name of names) {
    signal.throwIfAborted();
    const path = `${target}/${name}`;
    // A secret is created before the data that depends on it, and never changes.
    if (!existsSync(path)) await copyFile(`${folder}/${name}`, path);
    show(`Checking ${name}`);
    checkContent(path, name, `${folder}/${name}`);
    files.push({ name, ...(await measureFile(path)) });
  }
  const media = names.includes('archive.db') ? listMedia(target, folder) : new Map();
  const total = { files: media.size, bytes: sum([...media.values()]) };
  requireSpace(target, total.bytes + size);
  const shared_engine = context.config.PERCH_REDIS_URL !== undefined;
  const facts = { perch_backup: 1, perch: version, created, shared_engine } as const;
  const manifest: Manifest = { ...facts, files, media: total };
  return { manifest, media };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

const sizeOf = (path: string): number | undefined =>
  statSync(path, { throwIfNoEntry: false })?.size;

/** Returns the sizes of the archive's media files by name, without missing and incomplete files. */
function listMedia(copies: string, folder: string): ReadonlyMap<string, number> {
  const database = connectSqlite({ path: `${copies}/archive.db`, mustExist: true });
  try {
    const table = "SELECT 1 FROM sqlite_schema WHERE name = 'media_copies'";
    if (database.prepare(table).get() === undefined) return new Map();
    const rows = database.prepare<[], readonly [string, number]>(
      "SELECT printf('media/%.2s/%s', hash, hash), bytes FROM media_copies ORDER BY hash",
    );
    return new Map(
      rows
        .raw()
        .all()
        .filter(([name, bytes]) => sizeOf(`${folder}/${name}`) === bytes),
    );
  } finally {
    database.close();
  }
}
