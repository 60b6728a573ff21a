import { open } from 'node:fs/promises';
import type { ExportSource } from '../export-source.ts';

export interface ExportFile {
  /** Path within the export, with `/` between folders. */
  readonly name: string;
  /** Uncompressed size. */
  readonly bytes: number;
}

/** Folder, zip file or tar file of an export, open for reading. Close it with `close()`. */
export interface ExportFiles {
  readonly files: readonly ExportFile[];
  /** Yields a file's content. @throws Error with a message for the user if it is unreadable */
  read(file: ExportFile): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** File of an export. Its content can be read only until the caller requests the next file. */
export interface MediaFile {
  /** Path within the export, with `/` between folders. The path is not validated. */
  readonly path: string;
  /** Uncompressed size in bytes, as stated by the export. */
  readonly bytes: number;
  read(): AsyncIterable<Uint8Array>;
}

export const maxListedFiles = 10_000;

const growth = {
  /** Maximum ratio of unpacked to compressed size. */
  ratio: 250,
  /** Unpacked size in bytes up to which any compression ratio is allowed. */
  largeBytes: 64 * 2 ** 20,
} as const;

export const isDecompressionBomb = (bytes: number, compressedBytes: number): boolean =>
  bytes > growth.largeBytes && bytes > compressedBytes * growth.ratio;

export const isExportFileName = (name: string): boolean =>
  /\.(?:js|json|csv|ndjson|car)$/.test(name);

export async function readStart(path: string, length: number): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

export async function readWhole(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of chunks) parts.push(part);
  return Buffer.concat(parts);
}

/** Creates the source that an import reads. Reads of `countedFiles` count as progress. */
export function createExportSource(
  { read, close }: Pick<ExportFiles, 'read' | 'close'>,
  countedFiles: readonly ExportFile[],
  createReader: (
    read: ExportFiles['read'],
  ) => Pick<ExportSource, 'title' | 'exported' | 'groups' | 'mediaNameOf'>,
): ExportSource {
  let bytesRead = 0;
  const readCounted: ExportFiles['read'] = async function* (file) {
    for await (const chunk of read(file)) {
      bytesRead += chunk.length;
      yield chunk;
    }
  };
  return {
    ...createReader(readCounted),
    totalBytes: countedFiles.reduce((sum, { bytes }) => sum + bytes, 0),
    get bytesRead() {
      return bytesRead;
    },
    close,
  };
}
