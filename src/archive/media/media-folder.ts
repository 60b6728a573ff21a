import { createHash } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { mediaFolderName } from '../../lib/files/data-folder.ts';
import { type FileLock, FileLockedError, lockFile } from '../../lib/files/file-lock.ts';
import { detectMediaType, mediaHeadBytes } from '../../lib/files/media-type.ts';
import { giveToOwnerOf, makePrivateFolder } from '../../lib/files/private-files.ts';
import type { MediaCopy } from './media-rows.ts';

/** Completely written file that still has a temporary name. */
export interface ReceivedFile {
  readonly kind: 'received';
  readonly draft: string;
  readonly copy: MediaCopy;
}

type Refused = { readonly kind: 'too_large' } | { readonly kind: 'unsupported' };

export class UnreadableFileError extends Error {}

export interface ReceiveOptions {
  readonly maxBytes: number;
  /** Signal that cancels writing. `receive` then rejects with its reason. */
  readonly signal: AbortSignal;
}

/** Folder with media files. A file with the hash `abcd…` has the path `ab/abcd…`. */
export type MediaFolder = ReturnType<typeof openMediaFolder>;

/** Opens the media folder of a data folder. Creates it when the first file is stored. */
export function openMediaFolder(dataFolder: string) {
  const root = `${dataFolder}/${mediaFolderName}`;
  const pathOf = (hash: string): string => `${root}/${hash.slice(0, 2)}/${hash}`;
  return {
    ...openIncoming(dataFolder, root),
    pathOf,
    has: ({ hash, bytes }: MediaCopy): boolean =>
      statSync(pathOf(hash), { throwIfNoEntry: false })?.size === bytes,
    place: ({ draft, copy }: ReceivedFile): void => {
      const path = pathOf(copy.hash);
      makeOwnFolder(dataFolder, dirname(path));
      renameSync(draft, path);
      giveToOwnerOf(dataFolder, path);
    },
    remove: (hash: string): void => rmSync(pathOf(hash), { force: true }),
    /** Yields the hashes of all files, one list for each two-digit prefix. */
    *listHashes(): Iterable<readonly string[]> {
      for (const prefix of listNames(root).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
        yield listNames(`${root}/${prefix}`).filter((name) => /^[0-9a-f]{64}$/.test(name));
      }
    },
  };
}

function openIncoming(dataFolder: string, root: string) {
  const incoming = `${root}/incoming`;
  let count = 0;
  /** Creates and locks the media folder; returns `null` while another process holds the lock. */
  const lock = (): FileLock | null => {
    makeOwnFolder(dataFolder, root);
    makeOwnFolder(dataFolder, incoming);
    return tryToLock(`${root}/lock`, dataFolder);
  };
  /** Deletes the temporary files of interrupted imports. The caller must hold the folder's lock. */
  const removeIncomplete = (): void => {
    for (const name of listNames(incoming)) rmSync(`${incoming}/${name}`, { force: true });
  };
  return {
    lock,
    removeIncomplete,
    /** Deletes interrupted imports' temporary files, unless another process is storing files. */
    removeInterrupted: (): void => {
      if (listNames(incoming).length === 0) return;
      const held = lock();
      if (held === null) return;
      removeIncomplete();
      held.release();
    },
    /**
     * Writes a file under a temporary name. The caller must hold the folder's lock.
     * @throws UnreadableFileError if `content` throws; Error with a system error code, such as
     *   `ENOSPC`, if the disk cannot store the file
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
    discard: ({ draft }: ReceivedFile): void => rmSync(draft, { force: true }),
  };
}

function makeOwnFolder(dataFolder: string, path: string): void {
  makePrivateFolder(path);
  giveToOwnerOf(dataFolder, path);
}

function tryToLock(path: string, dataFolder: string): FileLock | null {
  try {
    const lock = lockFile(path);
    giveToOwnerOf(dataFolder, path);
    return lock;
  } catch (error) {
    if (error instanceof FileLockedError) return null;
    throw error;
  }
}

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

function createInspector() {
  let start = Buffer.alloc(0);
  const findType = () => detectMediaType(start);
  return {
    findType,
    /** Takes the next chunk. Returns whether the bytes so far show an unsupported media type. */
    isRefused: (chunk: Uint8Array): boolean => {
      if (start.length >= mediaHeadBytes) return false;
      start = Buffer.concat([start, chunk.subarray(0, mediaHeadBytes - start.length)]);
      return start.length >= mediaHeadBytes && findType() === null;
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
