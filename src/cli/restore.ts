import { createHash } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { systemClock } from '../lib/clock.ts';
import { seizeDataFolder } from '../lib/files/file-lock.ts';
import { giveToOwnerOf, makePrivateFolder } from '../lib/files/private-files.ts';
import { errorCodeOf, NewerSchemaError, UnusableFileError } from '../lib/files/sqlite.ts';
import { discardIncomplete, openIncomplete, recover, replaceFiles } from './backup/data-folder.ts';
import {
  checkContent,
  listMediaCount,
  type Manifest,
  madeByNewer,
  manifestName,
  maxManifestBytes,
  mediaName,
  newestSchemaOf,
  notABackup,
  parseManifest,
  requireSpace,
  type SavedFile,
} from './backup/manifest.ts';
import {
  type CommandBody,
  type CommandContext,
  CommandError,
  UsageError,
  withOptions,
} from './command.ts';
import { explainOpenError } from './output/explain.ts';
import { withStopSignal } from './stop-signal.ts';
import { dataFolderOf } from './stores.ts';

/** Command `perch restore`, which needs a stopped server. */
export const restoreCommand: CommandBody = {
  folder: 'own',
  details: `Stop the server first. The command checks the whole backup before it changes anything, and keeps the earlier data
in a folder of the data directory. If the command is interrupted, either all the earlier data or all the restored data remains in use.`,
  exits:
    'Exit code: 0 success, 2 bad usage or not a backup, 3 backup damaged or too new, or data directory in use or not writable.',
  ...withOptions(
    { check: { type: 'boolean', about: 'Only checks the backup, and restores nothing.' } },
    ({ check = false }, [file, ...more]) => {
      if (file === undefined || file === '' || more.length > 0) {
        throw new UsageError('Name the FILE that `perch backup` has written.');
      }
      return (context) => withBackup(file, context, check ? checkBackup : restoreBackup);
    },
  ),
};

type Use = (backup: Backup, context: CommandContext, signal: AbortSignal) => Promise<void>;

async function withBackup(file: string, context: CommandContext, use: Use): Promise<void> {
  const backup = await openBackup(file);
  try {
    await withStopSignal(async (signal) => {
      try {
        await use(backup, context, signal);
      } catch (error) {
        if (error instanceof CommandError || error instanceof UsageError) throw error;
        const fault = signal.aborted
          ? 'The command was stopped. The data is unchanged.'
          : explainOpenError(error, context.config);
        throw new CommandError('upstream', fault, { cause: error });
      }
    });
  } finally {
    backup.close();
  }
}

const checkBackup: Use = async (backup, { stdout, stderr }, signal) => {
  const target = mkdtempSync(join(tmpdir(), 'perch-restore-')); // accessible only to this user
  try {
    await extractAll(backup, { target, mediaTarget: null }, { signal, stderr });
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
  stdout.write(`${backup.path} is complete and can be restored: ${describe(backup)}\n`);
};

const restoreBackup: Use = async (backup, context, signal) => {
  const folder = dataFolderOf(context, 'the restored data');
  makePrivateFolder(folder);
  const lock = seizeDataFolder(folder);
  try {
    recover(folder, systemClock.now());
    const target = openIncomplete(folder);
    try {
      const { stderr } = context;
      await extractAll(backup, { target, mediaTarget: target }, { signal, stderr });
    } catch (error) {
      discardIncomplete(folder);
      throw error;
    }
    report(backup, context, replaceFiles(folder, systemClock.now()));
  } finally {
    lock.release();
  }
};

async function extractAll(
  backup: Backup,
  { target, mediaTarget }: Readonly<{ target: string; mediaTarget: string | null }>,
  { signal, stderr }: Readonly<{ signal: AbortSignal; stderr: CommandContext['stderr'] }>,
): Promise<void> {
  const { files, media } = backup.manifest;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  requireSpace(target, bytes + (mediaTarget === null ? 0 : media.bytes));
  try {
    for (const file of files) {
      stderr.showLine(`perch: Checking ${file.name}`);
      await backup.extract(file, target, signal);
    }
    if (media.files > 0) stderr.showLine('perch: Checking the media files');
    await backup.extractMedia(mediaTarget, signal);
    signal.throwIfAborted();
  } finally {
    stderr.clearLine();
  }
}

function report(backup: Backup, context: CommandContext, earlier: string | null): void {
  const { stdout, stderr, config } = context;
  const { shared_engine } = backup.manifest;
  stdout.write(`Restored ${backup.path} into ${config.PERCH_DATA_DIR}: ${describe(backup)}\n`);
  if (earlier !== null) {
    stdout.write(
      `The earlier data is in ${earlier}. Delete this folder when you no longer need it.\n`,
    );
  }
  if (shared_engine || config.PERCH_REDIS_URL !== undefined) {
    stderr.write(
      'perch: Keys, sessions and secrets in a shared engine (PERCH_REDIS_URL) are not restored. Restore the shared engine too; see docs/backup.md.\n',
    );
  }
}

function describe({ manifest: { files, media, created, perch } }: Backup): string {
  const names = [...files.map(({ name }) => name), ...listMediaCount(media)];
  return `${names.join(', ')} (made at ${created} by Perch ${perch})`;
}

const maxEntries = 1_000_000;

type Backup = Awaited<ReturnType<typeof openBackup>>;

/**
 * Opens a backup. Its functions check sizes, hashes and contents, and flush the files to disk.
 * Callers must call `close`.
 * @throws CommandError if the file is unreadable, not a valid backup or damaged; Error with `path`
 *   if a file cannot be written
 */
async function openBackup(path: string) {
  const zip = await openZip(path);
  try {
    const entries = await listEntries(zip, path);
    const manifest = await readManifest(zip, entries, path);
    checkNames(entries, manifest, path);
    return {
      path,
      manifest,
      extract: async (file: SavedFile, target: string, signal: AbortSignal) => {
        const entry = entries.get(file.name);
        if (entry === undefined) throw notABackup(path); // `checkNames` has found it
        const extraction = { zip, entry, target, signal, label: `${file.name} in ${path}` };
        await extractEntry(extraction, file.sha256);
        checkExtracted(file, `${target}/${file.name}`, extraction.label);
      },
      /** Only checks the media files if `target` is `null`. */
      extractMedia: async (target: string | null, signal: AbortSignal) => {
        for (const entry of listMediaEntries(entries)) {
          const [, sha256 = ''] = mediaName.exec(entry.fileName) ?? [];
          const label = `${entry.fileName} in ${path}`;
          await extractEntry({ zip, entry, target, signal, label }, sha256);
        }
      },
      close: () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}

const readFaults: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist. Check the path.',
  EISDIR: 'is a folder. Name the file that `perch backup` has written.',
  EACCES: 'cannot be read, because you have no permission to read it.',
};

async function openZip(path: string): Promise<ZipFile> {
  try {
    return await openPromise(path, { autoClose: false });
  } catch (cause) {
    const reason = readFaults[errorCodeOf(cause) ?? ''];
    if (reason === undefined) throw notABackup(path, cause);
    throw new CommandError('usage', `${path} ${reason}`, { cause });
  }
}

type Entries = ReadonlyMap<string, Entry>;

async function listEntries(zip: ZipFile, path: string): Promise<Entries> {
  if (zip.entryCount > maxEntries) throw notABackup(path);
  const entries = new Map<string, Entry>();
  try {
    for await (const entry of zip.eachEntry()) {
      if (entries.has(entry.fileName) || entry.isEncrypted() || !entry.canDecodeFileData()) {
        throw new Error(`The entry ${entry.fileName} is not one that Perch writes.`);
      }
      entries.set(entry.fileName, entry);
    }
  } catch (cause) {
    throw notABackup(path, cause);
  }
  return entries;
}

async function readManifest(zip: ZipFile, entries: Entries, path: string): Promise<Manifest> {
  const entry = entries.get(manifestName);
  if (entry === undefined || entry.uncompressedSize > maxManifestBytes) throw notABackup(path);
  const parts: Uint8Array[] = [];
  try {
    // The stream fails if the content is larger than `uncompressedSize`.
    for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part);
  } catch (cause) {
    throw notABackup(path, cause);
  }
  return parseManifest(Buffer.concat(parts).toString(), path);
}

const listMediaEntries = (entries: Entries): readonly Entry[] =>
  [...entries.values()].filter(({ fileName }) => mediaName.test(fileName));

function checkNames(entries: Entries, { perch, files, media }: Manifest, path: string): void {
  const isComplete = files.every(
    ({ name, bytes }) => entries.get(name)?.uncompressedSize === bytes,
  );
  const found = listMediaEntries(entries);
  const bytes = found.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
  const isWhole = isComplete && found.length === media.files && bytes === media.bytes;
  if (!isWhole || entries.size !== files.length + media.files + 1) throw notABackup(path);
  for (const { name, schema } of files) {
    const newest = newestSchemaOf(name);
    if ((newest === null) !== (schema === null)) throw notABackup(path);
    if (newest !== null && schema !== null && schema > newest) throw madeByNewer(path, perch);
  }
}

interface Extraction {
  readonly zip: ZipFile;
  readonly entry: Entry;
  /** Folder to write the file to; `null` to check the file without writing it. */
  readonly target: string | null;
  readonly signal: AbortSignal;
  readonly label: string;
}

/** Writes a file, which yauzl lets be no larger than the size that `checkNames` has checked. */
async function extractEntry(
  { zip, entry, target, signal, label }: Extraction,
  sha256: string,
): Promise<void> {
  const hash = createHash('sha256');
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const output = openOutput(entry.fileName, target);
  try {
    const input = await zip.openReadStreamPromise(entry);
    await pipeline(input, check, output, { signal });
  } catch (error) {
    output.destroy();
    if (isOfDisk(error) || signal.aborted) throw error;
    throw damaged(label, error);
  }
  signal.throwIfAborted();
  if (hash.digest('hex') !== sha256) throw damaged(label);
}

function openOutput(name: string, target: string | null): Writable {
  if (target === null) return new Writable({ write: (_chunk, _encoding, done) => done() });
  const path = `${target}/${name}`;
  makePrivateFolder(dirname(path));
  const output = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  return output.once('open', () => giveToOwnerOf(target, path));
}

function checkExtracted({ name, schema }: SavedFile, path: string, label: string): void {
  try {
    if (checkContent(path, name, label) !== schema) throw damaged(label);
  } catch (error) {
    if (error instanceof NewerSchemaError || !(error instanceof UnusableFileError)) throw error;
    const fault = `${error.message} The backup cannot be restored.`;
    throw new CommandError('upstream', fault, { cause: error });
  }
}

function damaged(label: string, cause?: unknown): CommandError {
  const fault = `${label} is damaged: its content is not the content that was backed up. Use another backup.`;
  return new CommandError('upstream', fault, { cause });
}

const isOfDisk = (error: unknown): boolean => error instanceof Error && 'syscall' in error;
