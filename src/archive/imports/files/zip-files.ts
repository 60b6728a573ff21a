import { type Entry, openPromise, type ZipFile } from 'yauzl';
import {
  type ExportFiles,
  isDecompressionBomb,
  isExportFileName,
  type MediaFile,
  maxListedFiles,
  readStart,
} from './export-files.ts';

const limits = {
  /** Maximum number of entries in a zip file. Large exports have 100,000 entries. */
  entries: 2_000_000,
  /** Maximum unpacked size in bytes of one file. */
  bytesOfFile: 64 * 2 ** 30,
} as const;

/** Returns `null` for other files. @throws Error if the zip file cannot be read */
export async function openZipFiles(path: string): Promise<ExportFiles | null> {
  const zip = await openZip(path);
  if (zip === null) return null;
  try {
    const entries = await listEntries(zip);
    if (zip.entryCount === 0) throw new Error('The zip file is empty.');
    return {
      files: entries.map(({ fileName, uncompressedSize }) => ({
        name: fileName,
        bytes: uncompressedSize,
      })),
      read: ({ name }) => readEntry(zip, takeEntry(entries, name)),
      close: async () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}

/** Returns the files in their order; `null` for other files. @throws Error if the zip is damaged */
export async function readZipFiles(path: string): Promise<AsyncIterable<MediaFile> | null> {
  const zip = await openZip(path);
  return zip === null ? null : readEntries(zip);
}

async function* readEntries(zip: ZipFile): AsyncGenerator<MediaFile, void, undefined> {
  try {
    if (zip.entryCount > limits.entries) throw new Error('The zip file contains too many files.');
    for await (const entry of zip.eachEntry()) {
      const { fileName: path, uncompressedSize: bytes } = entry;
      if (!path.endsWith('/')) yield { path, bytes, read: () => readEntry(zip, entry) };
    }
  } finally {
    zip.close();
  }
}

async function openZip(path: string): Promise<ZipFile | null> {
  const start = await readStart(path, 4);
  if (!signatures.some((signature) => start.equals(signature))) return null;
  return openPromise(path, { autoClose: false }).catch((cause: unknown) => {
    throw new Error('The zip file is damaged or incomplete. Download it again.', { cause });
  });
}

/** First bytes of a zip file: header of the first file, or end record of an empty zip file. */
const signatures = ['PK\x03\x04', 'PK\x05\x06'].map((text) => Buffer.from(text, 'latin1'));

function throwIfBomb({ fileSize }: ZipFile, bytes: number): void {
  if (!isDecompressionBomb(bytes, fileSize)) return;
  throw new Error(`The zip file is too large. It would expand to over ${bytes} bytes.`);
}

/**
 * Lists the text files of an export.
 * @throws Error if the zip file has too many files, or if the text files expand too much together:
 *   several entries can use the same compressed data
 */
async function listEntries(zip: ZipFile): Promise<readonly Entry[]> {
  if (zip.entryCount > limits.entries) throw new Error('The zip file contains too many files.');
  const entries: Entry[] = [];
  let bytes = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      if (!isExportFileName(entry.fileName)) continue;
      bytes += entry.uncompressedSize;
      throwIfBomb(zip, bytes);
      entries.push(entry);
      if (entries.length >= maxListedFiles) break;
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The directory of the zip file cannot be read: ${reason}.`, { cause });
  }
  return entries.sort((a, b) => (a.fileName < b.fileName ? -1 : 1));
}

function takeEntry(entries: readonly Entry[], name: string): Entry {
  const entry = entries.find(({ fileName }) => fileName === name);
  if (entry === undefined) throw new Error(`The zip file does not contain ${name}.`);
  return entry;
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
