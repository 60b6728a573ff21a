import { type Entry, openPromise, type ZipFile } from 'yauzl';
import {
  type ExportFiles,
  growsTooMuch,
  isListedName,
  maxListedFiles,
  readStart,
} from './export-files.ts';

/** Maximum sizes of a zip file of an export. One with pictures has some 100,000 files. */
const limits = { entries: 2_000_000, bytesOfFile: 64 * 2 ** 30 } as const;

/** Opens a zip file, told by how it begins; null for others. @throws Error with a sentence if it cannot be read */
export async function openZipFiles(path: string): Promise<ExportFiles | null> {
  const start = await readStart(path, 4);
  if (!beginnings.some((beginning) => start.equals(beginning))) return null;
  const zip = await openPromise(path, { autoClose: false }).catch((cause: unknown) => {
    throw new Error('The zip file is damaged, or was not downloaded to its end.', { cause });
  });
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

/** How a zip file begins: with a file, or with its end where it is empty. */
const beginnings = ['PK\x03\x04', 'PK\x05\x06'].map((text) => Buffer.from(text, 'latin1'));

async function listEntries(zip: ZipFile): Promise<readonly Entry[]> {
  if (zip.entryCount > limits.entries)
    throw new Error('The zip file has more files than are read.');
  const entries: Entry[] = [];
  try {
    for await (const entry of zip.eachEntry()) {
      if (isListedName(entry.fileName)) entries.push(entry);
      if (entries.length >= maxListedFiles) break;
    }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`The list of the zip file cannot be read: ${reason}.`, { cause });
  }
  return entries.sort((a, b) => (a.fileName < b.fileName ? -1 : 1));
}

function takeEntry(entries: readonly Entry[], name: string): Entry {
  const entry = entries.find(({ fileName }) => fileName === name);
  if (entry === undefined) throw new Error(`The zip file has no ${name}.`);
  return entry;
}

async function* readEntry(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array, void, undefined> {
  const { fileName, uncompressedSize, compressedSize } = entry;
  if (entry.isEncrypted())
    throw new Error('The zip file is encrypted. Unpack it and import the folder.');
  if (!entry.canDecodeFileData())
    throw new Error(`${fileName} is compressed in a way that is not read.`);
  const isBomb = growsTooMuch(uncompressedSize, compressedSize);
  if (isBomb || uncompressedSize > limits.bytesOfFile) {
    throw new Error(`${fileName} would be ${uncompressedSize} bytes, which is no export.`);
  }
  try {
    yield* await zip.openReadStreamPromise(entry);
  } catch (cause) {
    throw new Error(`${fileName} is damaged in the zip file.`, { cause });
  }
}
