import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  type ExportFile,
  type ExportFiles,
  growsTooMuch,
  isListedName,
  maxListedFiles,
  readStart,
} from './export-files.ts';
import { walkTar } from './tar-entries.ts';

/** No tar file that is unpacked to more than this is an account's export. */
const maxBytes = 2 ** 40;

/**
 * Opens a tar file, compressed with gzip or not; null where the path is none. Nothing is unpacked to the disk: the
 * file is gone through once for the list, and once more for each file that is read.
 * @throws Error with a sentence where it grows to more than an export does
 */
export async function openTarFiles(path: string): Promise<ExportFiles | null> {
  if (!(await stat(path)).isFile()) return null;
  const isCompressed = (await readStart(path, 2)).equals(gzipStart);
  const unpack = () => readUnpacked(path, isCompressed);
  const files: ExportFile[] = [];
  let isEmpty = true;
  for await (const { name, bytes } of walkTar(unpack())) {
    isEmpty = false;
    if (isListedName(name)) files.push({ name, bytes });
    if (files.length >= maxListedFiles) break;
  }
  if (isEmpty) return null;
  return {
    files,
    read: (file) => readEntry(unpack(), file),
    close: async () => undefined,
  };
}

const gzipStart = Buffer.from([0x1f, 0x8b]);

/** What cannot be unpacked ends there: whoever reads it sees that something is missing. */
async function* readUnpacked(path: string, isCompressed: boolean): AsyncGenerator<Uint8Array> {
  const file = createReadStream(path);
  const bytes = isCompressed ? pipeline(file, createGunzip(), () => undefined) : file;
  let count = 0;
  try {
    for await (const chunk of bytes) {
      count += chunk.length;
      if (growsTooMuch(count, file.bytesRead)) {
        throw new Error(`The tar file grows to more than ${count} bytes, which is no export.`);
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

/** Errors of zlib are named `Z_DATA_ERROR` and so on. */
function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
}

async function* readEntry(
  chunks: AsyncIterable<Uint8Array>,
  { name }: ExportFile,
): AsyncGenerator<Uint8Array> {
  for await (const entry of walkTar(chunks)) {
    if (entry.name !== name) continue;
    yield* entry.content;
    return;
  }
}
