import { createHash } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import * as z from 'zod';
import { systemClock } from '../lib/clock.ts';
import type { SavedName } from '../lib/files/data-folder.ts';
import { seizeDataFolder } from '../lib/files/file-lock.ts';
import { giveToOwnerOf, makePrivateFolder } from '../lib/files/private-files.ts';
import { NewerSchemaError, UnusableFileError } from '../lib/files/sqlite.ts';
import { parseJson } from '../lib/http/json-bodies.ts';
import {
  discardIncomplete,
  finishRestore,
  openIncomplete,
  replaceFiles,
} from './backup/data-folder.ts';
import {
  checkContent,
  listContents,
  type Manifest,
  manifest,
  manifestName,
  mediaName,
  requireSpace,
} from './backup/manifest.ts';
import {
  type CommandBody,
  type CommandContext,
  CommandError,
  UsageError,
  withOptions,
} from './command.ts';
import { explainOpenError, findByCode } from './output/explain.ts';
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

interface Backup {
  readonly path: string;
  readonly zip: ZipFile;
  /** Entries of the zip file without the manifest. */
  readonly entries: readonly Entry[];
  readonly manifest: Manifest;
  readonly signal: AbortSignal;
  readonly context: CommandContext;
}

async function withBackup(
  path: string,
  context: CommandContext,
  use: (backup: Backup) => Promise<void>,
): Promise<void> {
  const zip = await openZip(path);
  try {
    const contents = await readContents(zip, path);
    await withStopSignal(async (signal) => {
      try {
        await use({ path, zip, ...contents, signal, context });
      } catch (error) {
        if (error instanceof CommandError || error instanceof UsageError) throw error;
        const fault = signal.aborted
          ? 'The command was stopped. The data is unchanged.'
          : explainOpenError(error, context.config);
        throw new CommandError('upstream', fault, { cause: error });
      }
    });
  } finally {
    zip.close();
  }
}

async function checkBackup(backup: Backup): Promise<void> {
  const target = mkdtempSync(join(tmpdir(), 'perch-restore-')); // accessible only to this user
  try {
    await extract(backup, target, { hasMedia: false });
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
  const { path, context } = backup;
  context.stdout.write(`${path} is complete and can be restored: ${describe(backup)}\n`);
}

async function restoreBackup(backup: Backup): Promise<void> {
  const { path, context, manifest } = backup;
  const { stdout, stderr, config } = context;
  const folder = dataFolderOf(context, 'the restored data');
  makePrivateFolder(folder);
  const lock = seizeDataFolder(folder);
  try {
    finishRestore(folder, systemClock.now());
    await extract(backup, openIncomplete(folder), { hasMedia: true });
    const earlier = replaceFiles(folder, systemClock.now());
    stdout.write(`Restored ${path} into ${config.PERCH_DATA_DIR}: ${describe(backup)}\n`);
    if (earlier !== null) {
      stdout.write(
        `The earlier data is in ${earlier}. Delete this folder when you no longer need it.\n`,
      );
    }
  } finally {
    discardIncomplete(folder);
    lock.release();
  }
  if (manifest.shared_engine || config.PERCH_REDIS_URL !== undefined) {
    stderr.write(
      'perch: Keys, sessions and secrets in a shared engine (PERCH_REDIS_URL) are not restored. Restore the shared engine too; see docs/backup.md.\n',
    );
  }
}

const describe = ({ manifest }: Backup): string =>
  `${listContents(manifest)} (made at ${manifest.created} by Perch ${manifest.perch})`;

const readFaults: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist. Check the path.',
  EISDIR: 'is a folder. Name the file that `perch backup` has written.',
  EACCES: 'cannot be read, because you have no permission to read it.',
};

function openZip(path: string): Promise<ZipFile> {
  return openPromise(path, { autoClose: false }).catch((cause) => {
    const reason = findByCode(readFaults, cause);
    if (reason === undefined) throw notABackup(path, cause);
    throw new CommandError('usage', `${path} ${reason}`, { cause });
  });
}

function notABackup(path: string, cause?: unknown): CommandError {
  const fault = `${path} is not a backup of Perch, or it is incomplete. Choose a file that \`perch backup\` has written.`;
  return new CommandError('usage', fault, { cause });
}

const limits = { entries: 1_000_000, manifestBytes: 65_536 } as const;

/** Returns the manifest and the entries that it lists. @throws CommandError unless all are there */
async function readContents(zip: ZipFile, path: string) {
  try {
    if (zip.entryCount > limits.entries) throw new Error('The file has too many entries.');
    const all: Entry[] = [];
    for await (const entry of zip.eachEntry()) all.push(entry);
    const isManifest = ({ fileName }: Entry) => fileName === manifestName;
    const parsed = await readManifest(zip, all.find(isManifest), path);
    const entries = all.filter((entry) => !isManifest(entry));
    checkEntries(entries, parsed);
    return { entries, manifest: parsed };
  } catch (error) {
    throw error instanceof CommandError ? error : notABackup(path, error);
  }
}

const newerManifest = z.object({
  perch_backup: z.int().gt(1),
  perch: z.string().max(40).default('unknown'),
});

function madeByNewer(path: string, version: string, cause?: unknown): CommandError {
  const fault = `${path} was made by a newer version of Perch (${version}). Install that version or a later one, and run the command again.`;
  return new CommandError('upstream', fault, { cause });
}

async function readManifest(zip: ZipFile, entry: Entry | undefined, path: string) {
  if (entry === undefined || entry.uncompressedSize > limits.manifestBytes) {
    throw new Error('The file has no manifest.');
  }
  const parts: Uint8Array[] = [];
  // The stream fails if the content is larger than `uncompressedSize`.
  for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part);
  const content = parseJson(Buffer.concat(parts).toString());
  const newer = newerManifest.safeParse(content);
  if (newer.success) throw madeByNewer(path, newer.data.perch);
  return manifest.parse(content);
}

function checkEntries(entries: readonly Entry[], { files, media }: Manifest): void {
  const sizes = new Map<string, number>(files.map(({ name, bytes }) => [name, bytes]));
  const isListed = ({ fileName, uncompressedSize }: Entry) =>
    mediaName.test(fileName) || sizes.get(fileName) === uncompressedSize;
  const found = entries.filter(({ fileName }) => mediaName.test(fileName));
  const mediaBytes = found.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
  const { size } = new Set(entries.map(({ fileName }) => fileName));
  const hasAll = size === entries.length && size === files.length + media.files;
  const hasAllMedia = found.length === media.files && mediaBytes === media.bytes;
  if (hasAll && hasAllMedia && entries.every(isListed)) return;
  throw new Error('The file does not contain what its manifest lists.');
}

/** Extracts all files, with checks of their hashes and contents. Flushes them to disk. */
async function extract(
  backup: Backup,
  target: string,
  { hasMedia }: { readonly hasMedia: boolean },
): Promise<void> {
  const { entries, manifest, signal, context } = backup;
  const { files, media } = manifest;
  requireSpace(
    target,
    files.reduce((sum, { bytes }) => sum + bytes, hasMedia ? media.bytes : 0),
  );
  try {
    for (const entry of entries) {
      const isWritten = hasMedia || !mediaName.test(entry.fileName);
      context.stderr.showLine(`perch: Checking ${entry.fileName}`);
      await extractEntry(backup, entry, isWritten ? target : null);
    }
    for (const { name } of files) checkExtracted(backup, name, target);
    signal.throwIfAborted();
  } finally {
    context.stderr.clearLine();
  }
}

/** Writes a file to `target`, or only reads it if `target` is `null`. Checks its hash. */
async function extractEntry(
  { zip, path, manifest, signal }: Backup,
  entry: Entry,
  target: string | null,
): Promise<void> {
  const { fileName } = entry;
  const listed = manifest.files.find(({ name }) => name === fileName);
  const hash = createHash('sha256');
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  const output = openOutput(fileName, target);
  try {
    // The stream fails if the content is larger than the size that `checkEntries` has checked.
    await pipeline(await zip.openReadStreamPromise(entry), check, output, { signal });
  } catch (error) {
    output.destroy();
    const isOfDisk = error instanceof Error && 'syscall' in error;
    throw isOfDisk || signal.aborted ? error : damaged(`${fileName} in ${path}`, error);
  }
  const expected = listed?.sha256 ?? mediaName.exec(fileName)?.[1];
  if (hash.digest('hex') !== expected) throw damaged(`${fileName} in ${path}`);
}

function openOutput(name: string, target: string | null): Writable {
  if (target === null) return new Writable({ write: (_chunk, _encoding, done) => done() });
  const path = `${target}/${name}`;
  makePrivateFolder(dirname(path));
  const output = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  return output.once('open', () => giveToOwnerOf(target, path));
}

function checkExtracted({ path, manifest }: Backup, name: SavedName, target: string): void {
  try {
    checkContent(`${target}/${name}`, name, `${name} in ${path}`);
  } catch (error) {
    if (error instanceof NewerSchemaError) throw madeByNewer(path, manifest.perch, error);
    if (!(error instanceof UnusableFileError)) throw error;
    const fault = `${error.message} The backup cannot be restored.`;
    throw new CommandError('upstream', fault, { cause: error });
  }
}

function damaged(label: string, cause?: unknown): CommandError {
  const fault = `${label} is damaged: its content is not the content that was backed up. Use another backup.`;
  return new CommandError('upstream', fault, { cause });
}
