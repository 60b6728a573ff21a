import { createHash } from 'node:crypto';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FileLockedError, lockFile } from '../../core/files/file-lock.ts';
import { giveToOwnerOf } from '../../core/files/folder-lock.ts';
import { makePrivateFolder } from '../../core/files/private-files.ts';
import type { MediaCopy } from './media-rows.ts';
import { detectMediaType, typeBytes } from './media-type.ts';

/** Name of the folder in the data folder that contains the files of the archive. */
export const mediaFolderName = 'media';

/** File that is complete, but still has a temporary name. */
export interface ReceivedFile {
  readonly kind: 'received';
  readonly draft: string;
  readonly copy: MediaCopy;
}

/** Reason why a file was not stored. Its temporary file is already deleted. */
type Refused = { readonly kind: 'too_large' } | { readonly kind: 'unsupported' };

/** Error for a file of an export that cannot be read, for example because it is damaged. */
export class UnreadableFileError extends Error {}

export interface ReceiveOptions {
  readonly maxBytes: number;
  /** Signal that stops receiving. The returned promise then rejects with the reason of the signal. */
  readonly signal: AbortSignal;
}

/** Folder with the files of the archive: `ab/abcd…` for a file whose hash is `abcd…`. */
export type MediaFolder = ReturnType<typeof openMediaFolder>;

/** Opens the folder for media files within a data folder. Creates the folder when the first file is stored. */
export function openMediaFolder(dataFolder: string) {
  const root = `${dataFolder}/${mediaFolderName}`;
  const incoming = `${root}/incoming`;
  const pathOf = (hash: string): string => `${root}/${hash.slice(0, 2)}/${hash}`;
  const makeFolders = (...paths: readonly string[]) => {
    for (const path of paths) {
      makePrivateFolder(path);
      giveToOwnerOf(dataFolder, path);
    }
  };
  let count = 0;
  return {
    pathOf,
    exists: (): boolean => existsSync(root),
    /** Returns whether the folder contains a file with the size of `copy`. */
    has: ({ hash, bytes }: MediaCopy): boolean =>
      statSync(pathOf(hash), { throwIfNoEntry: false })?.size === bytes,
    /** Locks the folder for a process that stores files. Returns `null` while another process holds this lock. */
    lock: () => {
      makeFolders(root, incoming);
      return tryToLock(`${root}/lock`, dataFolder);
    },
    /**
     * Writes a file with a temporary name. The caller holds the lock. @throws UnreadableFileError if `content` throws;
     * Error with a code if the disk cannot store the file
     */
    receive: async (
      content: AsyncIterable<Uint8Array>,
      options: ReceiveOptions,
    ): Promise<ReceivedFile | Refused> => {
      count += 1;
      const draft = `${incoming}/${process.pid}-${count}`;
      const file = await open(draft, 'wx', 0o600);
      let isComplete = false;
      try {
        const written = await writeContent(file, content, options);
        isComplete = typeof written !== 'string';
        return typeof written === 'string' ? { kind: written } : { ...written, draft };
      } finally {
        await file.close();
        if (!isComplete) rmSync(draft, { force: true });
      }
    },
    /** Moves a received file to its final name. */
    place: ({ draft, copy }: ReceivedFile): void => {
      const path = pathOf(copy.hash);
      makeFolders(dirname(path));
      renameSync(draft, path);
      giveToOwnerOf(dataFolder, path);
    },
    discard: ({ draft }: ReceivedFile): void => rmSync(draft, { force: true }),
    remove: (hash: string): void => rmSync(pathOf(hash), { force: true }),
    /** Deletes the temporary files of imports that were interrupted. The caller holds the lock. */
    removeIncomplete: (): void => {
      for (const name of listNames(incoming)) rmSync(`${incoming}/${name}`, { force: true });
    },
    /** Yields the hashes of all files, in groups by their first two digits. */
    *listHashes(): Iterable<readonly string[]> {
      for (const prefix of listNames(root).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
        yield listNames(`${root}/${prefix}`).filter((name) => /^[0-9a-f]{64}$/.test(name));
      }
    },
  };
}

function tryToLock(path: string, dataFolder: string) {
  try {
    const lock = lockFile(path);
    giveToOwnerOf(dataFolder, path);
    return lock;
  } catch (error) {
    if (error instanceof FileLockedError) return null;
    throw error;
  }
}

/** Writes content to a file while it computes the hash. Stops as soon as the file is too large or of another type. */
async function writeContent(
  file: FileHandle,
  content: AsyncIterable<Uint8Array>,
  { maxBytes, signal }: ReceiveOptions,
): Promise<Omit<ReceivedFile, 'draft'> | Refused['kind']> {
  const hash = createHash('sha256');
  const inspect = createInspector();
  let bytes = 0;
  for await (const chunk of explainFaults(content)) {
    signal.throwIfAborted();
    bytes += chunk.length;
    if (bytes > maxBytes) return 'too_large';
    if (inspect.isRefused(chunk)) return 'unsupported';
    hash.update(chunk);
    await file.writeFile(chunk);
  }
  const type = inspect.findType();
  if (type === null) return 'unsupported';
  return { kind: 'received', copy: { hash: hash.digest('hex'), bytes, type } };
}

/** Creates functions that find the media type of a file from its first chunks. */
function createInspector() {
  let start = Buffer.alloc(0);
  const findType = () => detectMediaType(start);
  return {
    findType,
    /** Returns `true` as soon as enough bytes are known to see that the type is not a known one. */
    isRefused: (chunk: Uint8Array): boolean => {
      if (start.length >= typeBytes) return false;
      start = Buffer.concat([start, chunk.subarray(0, typeBytes - start.length)]);
      return start.length >= typeBytes && findType() === null;
    },
  };
}

async function* explainFaults(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (cause) {
    throw new UnreadableFileError('The file cannot be read.', { cause });
  }
}

function listNames(folder: string): readonly string[] {
  const exists = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return exists ? readdirSync(folder) : [];
}
