import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { dirname } from 'node:path';
import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { giveToOwnerOf, makePrivateFolder } from '../../core/files/private-files.ts';
import { errorCodeOf, NewerSchemaError, UnusableFileError } from '../../core/files/sqlite.ts';
import { CommandError } from '../command.ts';
import {
  checkContent,
  type Manifest,
  madeByNewer,
  manifestName,
  maxManifestBytes,
  mediaName,
  newestSchemaOf,
  notABackup,
  parseManifest,
  type SavedFile,
} from './manifest.ts';

const maxEntries = 1_000_000;

/** Open backup with a valid manifest. The caller must call `close`. */
export interface Backup {
  readonly path: string;
  readonly manifest: Manifest;
  /**
   * Checks size, hash and content of the file, and flushes it to disk.
   * @throws CommandError if the file is damaged; Error with `path` if it cannot be written
   */
  extract(file: SavedFile, target: string, signal: AbortSignal): Promise<void>;
  /**
   * Checks the hashes of the media files. Writes nothing if `target` is `null`.
   * @throws CommandError if a file is damaged; Error with `path` if it cannot be written
   */
  extractMedia(target: string | null, signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Opens a backup. @throws CommandError if the file cannot be read or is not a valid backup */
export async function openBackup(path: string): Promise<Backup> {
  const zip = await openZip(path);
  try {
    const entries = await listEntries(zip, path);
    const manifest = await readManifest(zip, entries, path);
    checkNames(entries, manifest, path);
    return {
      path,
      manifest,
      extract: async (file, target, signal) => {
        const entry = entries.get(file.name);
        if (entry === undefined) throw notABackup(path); // `checkNames` has found it
        const extraction = { zip, entry, target, signal, label: `${file.name} in ${path}` };
        await extractEntry(extraction, file.sha256);
        checkExtracted(file, `${target}/${file.name}`, extraction.label);
      },
      extractMedia: async (target, signal) => {
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

/** Checks files and schemas. @throws CommandError if they differ or are too new for Perch */
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
