import { createReadStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type Extract, type ExtractEvents, extract } from 'tar-stream';
import {
  type ExportFile,
  type ExportFiles,
  isDecompressionBomb,
  isExportFileName,
  type MediaFile,
  maxListedFiles,
  readStart,
} from './export-files.ts';

const chunkBytes = 128 * 1024;

const maxBytes = 2 ** 40; // maximum unpacked size; exports of one account are smaller

/**
 * Opens a tar file, which may be compressed with gzip; returns `null` for other files. Reads it
 * once, and copies the listed files to a temporary file.
 * @throws Error if the unpacked tar file is too large
 */
export async function openTarFiles(path: string): Promise<ExportFiles | null> {
  if (!(await stat(path)).isFile()) return null;
  const copies = createCopies();
  const files: ExportFile[] = [];
  let isEmpty = true;
  try {
    for await (const { path: name, bytes, read } of readTarFiles(path)) {
      isEmpty = false;
      if (!isExportFileName(name)) continue;
      files.push({ name, bytes });
      await copies.add(name, read());
      if (files.length >= maxListedFiles) break;
    }
  } catch (error) {
    await copies.close();
    throw error;
  }
  return isEmpty ? null : { files, read: ({ name }) => copies.read(name), close: copies.close };
}

function createCopies() {
  const copies = new Map<string, { readonly start: number; readonly length: number }>();
  let file: FileHandle | undefined;
  let size = 0;
  return {
    /** Copies a file, unless there is one with the same name. */
    add: async (name: string, content: AsyncIterable<Uint8Array>): Promise<void> => {
      if (copies.has(name)) return;
      file ??= await openTemporary();
      const start = size;
      for await (const chunk of content) {
        await file.writeFile(chunk); // continues after the last write
        size += chunk.length;
      }
      copies.set(name, { start, length: size - start });
    },
    read: async function* (name: string): AsyncGenerator<Uint8Array, void, undefined> {
      const { start, length } = copies.get(name) ?? { start: 0, length: 0 };
      // A read stream would close the file if the caller stops early.
      for (let at = 0; at < length && file !== undefined; ) {
        const buffer = Buffer.alloc(Math.min(chunkBytes, length - at));
        const { bytesRead } = await file.read(buffer, 0, buffer.length, start + at);
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
        at += bytesRead;
      }
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

type Entry = ExtractEvents['entry'][1];

/** `allowUnknownFormat`: also the format from before ustar. Without a mark, `write` always waits. */
const tarOptions = { allowUnknownFormat: true, highWaterMark: 0 } as const;

/**
 * Yields the files of a tar file in their order, up to its end or the first invalid header.
 * @throws Error if the unpacked tar file is too large
 */
export async function* readTarFiles(path: string): AsyncGenerator<MediaFile, void, undefined> {
  const tar = extract(tarOptions);
  const feeding = feed(tar, readUnpacked(path));
  try {
    for await (const entry of tar) {
      // The iterator's own `return()` would end the whole tar file.
      const content = (entry as AsyncIterable<Uint8Array>)[Symbol.asyncIterator](); // pieces of the chunks
      const read = () => ({ [Symbol.asyncIterator]: () => ({ next: () => content.next() }) });
      const { name, size: bytes = 0, type } = entry.header;
      if (type === 'file') yield { path: name.replace(/^\.\//, ''), bytes, read };
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
  let last: Entry | undefined;
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

async function endEntry(entry: Entry | undefined): Promise<void> {
  if (entry === undefined || entry.destroyed) return;
  await new Promise<void>((resolve) => {
    entry.once('close', resolve);
    entry.push(null);
  });
}

const gzipStart = Buffer.from([0x1f, 0x8b]);

async function* readUnpacked(path: string): AsyncGenerator<Uint8Array> {
  const isCompressed = (await readStart(path, 2)).equals(gzipStart);
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
