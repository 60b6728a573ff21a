import { constants, createReadStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, opendir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type Extract, type ExtractEvents, extract } from 'tar-stream';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import {
  type ExportFile,
  type ExportFiles,
  isDecompressionBomb,
  isExportFileName,
  maxListedFiles,
  readStart,
} from './export-source.ts';

/** Opens an export for reading. @throws Error with a message for the user if it is damaged */
export const openExportFiles = async (path: string): Promise<ExportFiles> =>
  (await openFolderFiles(path)) ??
  (await openZipFiles(path)) ??
  (await openTarFiles(path)) ??
  openPlainFile(path);

/** Size in bytes of the chunks of files. Larger chunks are faster but use more memory. */
const chunkBytes = 128 * 1024;

const readPlain = (path: string) => createReadStream(path, { highWaterMark: chunkBytes });

const openFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0); // unknown on Windows

async function* readOwn(path: string): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await open(path, openFlags);
  yield* file.createReadStream({ highWaterMark: chunkBytes });
}

async function openPlainFile(path: string): Promise<ExportFiles> {
  const { size: bytes } = await stat(path);
  const files = [{ name: basename(path), bytes, read: () => readPlain(path) }];
  return {
    path,
    kind: 'file',
    files,
    list: () => Readable.from(files),
    all: async function* () {},
    close: async () => undefined,
  };
}

const folderLimits = {
  /** Maximum depth of records. Those of X were deep: `twitter-export/data/js/tweets/2015_01.js`. */
  recordDepth: 5,
  /** Maximum depth of media. Mastodon's are deep: `media_attachments/files/109/…/a.png`. */
  depth: 16,
  /** Maximum number of files in a folder and its subfolders. Further files are ignored. */
  files: 2_000_000,
} as const;

async function openFolderFiles(root: string): Promise<ExportFiles | null> {
  if (!(await stat(root)).isDirectory()) return null;
  const toFile = async (name: string): Promise<ExportFile> => {
    const path = join(root, name);
    return { name, bytes: (await stat(path)).size, read: () => readOwn(path) };
  };
  const all = async function* (): AsyncGenerator<ExportFile, void, undefined> {
    let count = 0;
    for await (const name of listNames(root, folderLimits.depth)) {
      count += 1;
      if (count > folderLimits.files) return;
      yield await toFile(name);
    }
  };
  const files: ExportFile[] = [];
  for await (const name of listNames(root, folderLimits.recordDepth)) {
    if (isExportFileName(name)) files.push(await toFile(name));
    if (files.length >= maxListedFiles) break;
  }
  files.sort(byName);
  return { path: root, kind: 'folder', files, list: all, all, close: async () => undefined };
}

const byName = (a: ExportFile, b: ExportFile): number => (a.name < b.name ? -1 : 1);

/** Yields the names of files, but not of symbolic links. */
async function* listNames(
  root: string,
  depth: number,
  within: string = '',
): AsyncGenerator<string, void, undefined> {
  const folders: string[] = [];
  for await (const entry of await opendir(join(root, within))) {
    const name = within === '' ? entry.name : `${within}/${entry.name}`;
    if (entry.isFile()) yield name;
    if (entry.isDirectory()) folders.push(name);
  }
  if (depth > 1) for (const folder of folders) yield* listNames(root, depth - 1, folder);
}

const limits = {
  /** Maximum number of entries in a zip file. Large exports have 100,000 entries. */
  entries: 2_000_000,
  /** Maximum unpacked size in bytes of one file. */
  bytesOfFile: 64 * 2 ** 30,
} as const;

async function openZipFiles(path: string): Promise<ExportFiles | null> {
  const zip = await openZip(path);
  if (zip === null) return null;
  try {
    const files = await listEntries(zip);
    if (zip.entryCount === 0) throw new Error('The zip file is empty.');
    const all = () => readEntries(path);
    return { path, kind: 'packed', files, list: all, all, close: async () => zip.close() };
  } catch (error) {
    zip.close();
    throw error;
  }
}

const toFile = (zip: ZipFile, entry: Entry): ExportFile => ({
  name: entry.fileName,
  bytes: entry.uncompressedSize,
  read: () => readEntry(zip, entry),
});

async function* readEntries(path: string): AsyncGenerator<ExportFile, void, undefined> {
  const zip = await openZip(path);
  if (zip === null) return;
  try {
    for await (const entry of zip.eachEntry()) {
      if (!entry.fileName.endsWith('/')) yield toFile(zip, entry);
    }
  } finally {
    zip.close();
  }
}

async function openZip(path: string): Promise<ZipFile | null> {
  const start = await readStart(readPlain(path), 4);
  if (!signatures.some((signature) => start.equals(signature))) return null;
  return openPromise(path, { autoClose: false }).catch((cause: unknown) => {
    throw new Error('The zip file is damaged or incomplete. Download it again.', { cause });
  });
}

/** First bytes of a zip file: header of the first file, or end record of an empty zip file. */
const signatures = ['PK\x03\x04', 'PK\x05\x06'].map((text) => Buffer.from(text, 'latin1'));

/**
 * Lists the text files of an export.
 * @throws Error if the zip file has too many files, or if the text files expand too much together:
 *   several entries can use the same compressed data
 */
async function listEntries(zip: ZipFile): Promise<readonly ExportFile[]> {
  if (zip.entryCount > limits.entries) throw new Error('The zip file contains too many files.');
  const files: ExportFile[] = [];
  try {
    for await (const entry of zip.eachEntry()) {
      if (isExportFileName(entry.fileName)) files.push(toFile(zip, entry));
      if (files.length >= maxListedFiles) break;
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The directory of the zip file cannot be read: ${reason}.`, { cause });
  }
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (isDecompressionBomb(total, zip.fileSize))
    throw new Error(`The zip file is too large. It would expand to over ${total} bytes.`);
  return files.sort(byName);
}

async function* readEntry(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array, void, undefined> {
  const { fileName, uncompressedSize, compressedSize } = entry;
  if (entry.isEncrypted())
    throw new Error('The zip file is encrypted. Unpack it and import the folder.');
  if (!entry.canDecodeFileData())
    throw new Error(`${fileName} has unknown compression. Unpack it and import the folder.`);
  const isBomb = isDecompressionBomb(uncompressedSize, compressedSize);
  if (isBomb || uncompressedSize > limits.bytesOfFile) {
    throw new Error(`${fileName} is too large. It would expand to ${uncompressedSize} bytes.`);
  }
  try {
    yield* await zip.openReadStreamPromise(entry);
  } catch (cause) {
    throw new Error(`${fileName} is damaged in the zip file.`, { cause });
  }
}

const maxBytes = 2 ** 40; // maximum unpacked size; exports of one account are smaller

/** Maximum number of files of a tar file whose names are in memory, to report what is left out. */
const maxTarNames = 100_000;

async function openTarFiles(path: string): Promise<ExportFiles | null> {
  const copies = createCopies();
  try {
    const { files, names } = await copyRecords(path, copies);
    const list = () => Readable.from(names);
    const all = () => readTarFiles(path);
    if (names.length > 0) return { path, kind: 'packed', files, list, all, close: copies.close };
  } catch (error) {
    await copies.close();
    throw error;
  }
  return null;
}

async function copyRecords(path: string, { add }: ReturnType<typeof createCopies>) {
  const files: ExportFile[] = [];
  const names: ExportFile[] = [];
  for await (const file of readTarFiles(path)) {
    const isRecord = isExportFileName(file.name);
    const kept = isRecord ? await add(file) : file;
    if (isRecord) files.push(kept);
    if (names.length < maxTarNames) names.push(kept);
    if (files.length >= maxListedFiles) break;
  }
  return { files, names };
}

function createCopies() {
  let file: FileHandle | undefined;
  let size = 0;
  const read = async function* (start: number, end: number) {
    // A read stream would close the file if the caller stops early.
    for (let at = start; at < end && file !== undefined; ) {
      const buffer = Buffer.alloc(Math.min(chunkBytes, end - at));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  };
  return {
    /** Copies a file, and returns the copy, which can be read any number of times. */
    add: async (original: ExportFile): Promise<ExportFile> => {
      file ??= await openTemporary();
      const start = size;
      for await (const chunk of original.read()) {
        await file.writeFile(chunk); // continues after the last write
        size += chunk.length;
      }
      const end = size;
      return { ...original, read: () => read(start, end) };
    },
    close: async (): Promise<void> => file?.close(),
  };
}

async function openTemporary(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'perch-import-'));
  try {
    return await open(join(folder, 'files'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type TarEntry = ExtractEvents['entry'][1];

/** `allowUnknownFormat`: also the format from before ustar. Without a mark, `write` always waits. */
const tarOptions = { allowUnknownFormat: true, highWaterMark: 0 } as const;

async function* readTarFiles(path: string): AsyncGenerator<ExportFile, void, undefined> {
  const tar = extract(tarOptions);
  const feeding = feed(tar, readUnpacked(path));
  try {
    for await (const entry of tar) {
      // The iterator's own `return()` would end the whole tar file.
      const content = (entry as AsyncIterable<Uint8Array>)[Symbol.asyncIterator](); // pieces of the chunks
      const read = () => ({ [Symbol.asyncIterator]: () => ({ next: () => content.next() }) });
      const { name, size: bytes = 0, type } = entry.header;
      if (type === 'file') yield { name: name.replace(/^\.\//, ''), bytes, read };
      while ((await content.next()).done !== true);
    }
  } catch (error) {
    if (error === (await feeding)) throw error; // otherwise an invalid header
  } finally {
    tar.destroy();
    await feeding;
  }
}

/** Writes chunks to `tar` until one of them ends. Returns the error of the chunks, if any. */
async function feed(tar: Extract, chunks: AsyncIterable<Uint8Array>): Promise<unknown> {
  let wake = (): void => undefined;
  let last: TarEntry | undefined;
  for (const event of ['drain', 'close'] as const) tar.on(event, () => wake());
  tar.on('entry', (_header, entry) => {
    last = entry;
  });
  try {
    for await (const chunk of chunks) {
      if (tar.destroyed) return undefined;
      await new Promise<void>((resolve) => {
        wake = resolve;
        tar.write(chunk);
      });
    }
    await endEntry(last); // because `tar.end()` drops the content of an incomplete entry
    tar.end(undefined);
    return undefined;
  } catch (error) {
    tar.destroy(error as Error); // so that reading the current entry throws it too
    return error;
  }
}

async function endEntry(entry: TarEntry | undefined): Promise<void> {
  if (entry === undefined || entry.destroyed) return;
  await new Promise<void>((resolve) => {
    entry.once('close', resolve);
    entry.push(null);
  });
}

const gzipStart = Buffer.from([0x1f, 0x8b]);

async function* readUnpacked(path: string): AsyncGenerator<Uint8Array> {
  const isCompressed = (await readStart(readPlain(path), 2)).equals(gzipStart);
  const file = createReadStream(path);
  const bytes = isCompressed ? pipeline(file, createGunzip(), () => undefined) : file;
  let count = 0;
  try {
    for await (const chunk of bytes) {
      count += chunk.length;
      if (isDecompressionBomb(count, file.bytesRead)) {
        throw new Error(`The tar file is too large. It expands to over ${count} bytes.`);
      }
      yield chunk;
      if (count > maxBytes) return;
    }
  } catch (error) {
    if (!isZlibError(error)) throw error;
  } finally {
    file.destroy();
    bytes.destroy();
  }
}

const isZlibError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
