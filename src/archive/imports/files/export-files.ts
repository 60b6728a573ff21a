import { open } from 'node:fs/promises';
import type { ExportSource } from '../export-source.ts';

export interface ExportFile {
  /** Its path within the export, with `/` between folders. */
  readonly name: string;
  /** How long it is when it is read. */
  readonly bytes: number;
}

/** The files of an export, in a folder, a zip file or a tar file. Close it with `close()`. */
export interface ExportFiles {
  readonly files: readonly ExportFile[];
  /** Reads a file of `files`. @throws Error with a sentence if it cannot be read */
  read(file: ExportFile): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

export const maxListedFiles = 10_000;

/** Text is compressed to about a tenth. Up to `largeBytes` files may grow more: they do no harm. */
const growth = { ratio: 250, largeBytes: 64 * 2 ** 20 } as const;

/** Returns whether compressed bytes grow to more than an export does. */
export function growsTooMuch(bytes: number, compressedBytes: number): boolean {
  return bytes > growth.largeBytes && bytes > compressedBytes * growth.ratio;
}

/** Returns whether an import reads files of this name: it does not read pictures, for instance. */
export function isListedName(name: string): boolean {
  return /\.(?:js|json|ndjson|car)$/.test(name);
}

/** Reads the first bytes of a file, at most so many. */
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

/**
 * Creates the source of what `tell` reads. Progress are the bytes that its `read` reads, of those of the `counted`
 * files.
 */
export function createSource(
  { read, close }: Pick<ExportFiles, 'read' | 'close'>,
  counted: readonly ExportFile[],
  tell: (read: ExportFiles['read']) => Pick<ExportSource, 'title' | 'exported' | 'groups'>,
): ExportSource {
  let bytesRead = 0;
  const readCounted: ExportFiles['read'] = async function* (file) {
    for await (const chunk of read(file)) {
      bytesRead += chunk.length;
      yield chunk;
    }
  };
  return {
    ...tell(readCounted),
    totalBytes: counted.reduce((sum, { bytes }) => sum + bytes, 0),
    get bytesRead() {
      return bytesRead;
    },
    close,
  };
}
