import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
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

const maxBytes = 2 ** 40; // maximum unpacked size; exports of one account are smaller

/**
 * Opens a tar file, which may be compressed with gzip. Returns `null` for other files. Each `read` scans the tar file
 * from the start. @throws Error if the unpacked tar file is too large
 */
export async function openTarFiles(path: string): Promise<ExportFiles | null> {
  if (!(await stat(path)).isFile()) return null;
  const isCompressed = (await readStart(path, 2)).equals(gzipStart);
  const unpack = () => readUnpacked(path, isCompressed);
  const files: ExportFile[] = [];
  let isEmpty = true;
  for await (const { name, bytes } of readTarEntries(unpack())) {
    isEmpty = false;
    if (isExportFileName(name)) files.push({ name, bytes });
    if (files.length >= maxListedFiles) break;
  }
  if (isEmpty) return null;
  return {
    files,
    read: (file) => readEntry(unpack(), file),
    close: async () => undefined,
  };
}

/** Yields all files of a tar file in their order. @throws Error if the unpacked tar file is too large */
export async function* readTarFiles(path: string): AsyncGenerator<MediaFile, void, undefined> {
  const isCompressed = (await readStart(path, 2)).equals(gzipStart);
  for await (const { name, bytes, content } of readTarEntries(readUnpacked(path, isCompressed)))
    yield { path: name, bytes, read: () => content };
}

const gzipStart = Buffer.from([0x1f, 0x8b]);

/** Yields the unpacked bytes of a tar file. Ends early, without an error, if the compressed data is damaged. */
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

async function* readEntry(
  chunks: AsyncIterable<Uint8Array>,
  { name }: ExportFile,
): AsyncGenerator<Uint8Array> {
  for await (const entry of readTarEntries(chunks)) {
    if (entry.name !== name) continue;
    yield* entry.content;
    return;
  }
}
