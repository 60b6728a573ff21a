import { createReadStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  type ExportFile,
  type ExportFiles,
  isDecompressionBomb,
  isExportFileName,
  maxListedFiles,
  readStart,
} from './export-files.ts';
import type { MediaFile } from './media-files.ts';
import { readTarEntries } from './tar-entries.ts';

const chunkBytes = 128 * 1024;

const maxBytes = 2 ** 40; // maximum unpacked size; exports of one account are smaller

/**
 * Opens a tar file, which may be compressed with gzip; returns `null` for other files. Reads it
 * once, and copies the listed files to a temporary file.
 * @throws Error if the unpacked tar file is too large
 */
export async function openTarFiles(path: string): Promise<ExportFiles | null> {
  if (!(await stat(path)).isFile()) return null;
  const isCompressed = (await readStart(path, 2)).equals(gzipStart);
  const copies = createCopies();
  const files: ExportFile[] = [];
  let isEmpty = true;
  try {
    for await (const { name, bytes, content } of readTarEntries(readUnpacked(path, isCompressed))) {
      isEmpty = false;
      if (!isExportFileName(name)) continue;
      files.push({ name, bytes });
      await copies.add(name, content);
      if (files.length >= maxListedFiles) break;
    }
  } catch (error) {
    await copies.close();
    throw error;
  }
  return isEmpty ? null : { files, read: ({ name }) => copies.read(name), close: copies.close };
}

interface Copy {
  readonly start: number;
  readonly length: number;
}

function createCopies() {
  const copies = new Map<string, Copy>();
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

/** Yields all files in their order. @throws Error if the unpacked tar file is too large */
export async function* readTarFiles(path: string): AsyncGenerator<MediaFile, void, undefined> {
  const isCompressed = (await readStart(path, 2)).equals(gzipStart);
  for await (const { name, bytes, content } of readTarEntries(readUnpacked(path, isCompressed)))
    yield { path: name, bytes, read: () => content };
}

const gzipStart = Buffer.from([0x1f, 0x8b]);

async function* readUnpacked(path: string, isCompressed: boolean): AsyncGenerator<Uint8Array> {
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
