import { createHash, webcrypto } from 'node:crypto';
import {
  type FileHandle,
  open,
  opendir,
  rename,
  rm,
  stat,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { extensionOf, mediaExtensions } from '../../lib/files/media-type.ts';
import {
  giveToOwnerOf,
  isCode,
  makePrivateFolder,
  restrictToOwner,
} from '../../lib/files/private-files.ts';
import type { PictureBytes } from '../../lib/http/picture-client.ts';
import type { Random } from '../../lib/random.ts';

export interface PictureFacts {
  readonly mediaType: string;
  /** Size of the content in bytes. */
  readonly size: number;
  /** Hash of the content, for the ETag. */
  readonly hash: string;
}

/** Picture with its content: bytes, or an open file, which the caller must close. */
export interface Picture extends PictureFacts {
  readonly content: Buffer | FileHandle;
}

/** Cache of pictures. If it is full, the least recently used pictures are deleted first. */
export interface PictureStore {
  /** Returns properties from the index; `null` if missing or stored at least a week ago. */
  find(key: string): Promise<PictureFacts | null>;
  /** Returns a picture; `null` if missing, incomplete, or stored at least a week ago. */
  read(key: string): Promise<Picture | null>;
  /** Stores a picture and returns it with its hash. Passes disk errors to `onFailure`. */
  write(key: string, picture: PictureBytes): Promise<Picture>;
  delete(key: string): Promise<void>;
  /** Waits until all pending file operations are complete. */
  close(): Promise<void>;
}

export interface PictureStoreOptions {
  /** Folder of the cache; `null` for a cache in memory. */
  readonly folder: string | null;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly random: Random;
  /** Called when the cache folder cannot be used or a picture cannot be stored in the cache. */
  readonly onFailure: (error: unknown) => void;
}

const keepMs = 7 * 86_400_000;

/** Minimum interval in milliseconds between two updates of a file's access time. */
const useIntervalMs = 3_600_000;

/** Assumed block size of the disk in bytes. File sizes are rounded up to a multiple of it. */
const blockBytes = 4096;

const maxMemoryBytes = 33_554_432;

const countBytes = (bytes: number) => Math.ceil(bytes / blockBytes) * blockBytes;

const hashLength = 32;

async function toPicture({
  mediaType,
  bytes,
}: PictureBytes): Promise<Picture & { content: Buffer }> {
  const own = bytes as Buffer<ArrayBuffer>; // from Buffer.concat, which never uses shared memory
  const digest = await webcrypto.subtle.digest('SHA-256', own);
  const hash = Buffer.from(digest).toString('hex').slice(0, hashLength);
  return { mediaType, size: bytes.length, hash, content: bytes };
}

/** Creates a cache of pictures. On disk, it lists its folder before the first read or write. */
export function createPictureStore(options: PictureStoreOptions): PictureStore {
  const { folder } = options;
  return folder === null ? createMemoryStore(options) : createDiskStore({ ...options, folder });
}

function createMemoryStore({ maxBytes, clock }: PictureStoreOptions): PictureStore {
  const pictures = new LRUCache<string, Picture & { readonly storedMs: number }>({
    maxSize: Math.max(1, Math.min(maxBytes, maxMemoryBytes)),
    sizeCalculation: ({ size }) => countBytes(size),
  });
  const read = async (key: string) => {
    const found = pictures.get(key);
    return found === undefined || clock.now() - found.storedMs >= keepMs ? null : found;
  };
  return {
    find: read,
    read,
    write: async (key, given) => {
      const picture = { ...(await toPicture(given)), storedMs: clock.now() };
      pictures.set(key, picture);
      return picture;
    },
    delete: async (key) => void pictures.delete(key),
    close: async () => pictures.clear(),
  };
}

type DiskOptions = PictureStoreOptions & { readonly folder: string };

interface StoredFile {
  readonly name: string;
  readonly hash: string;
  readonly extension: string;
  readonly size: number;
  /** Modification time of the file in epoch milliseconds: the time when the picture was stored. */
  readonly storedMs: number;
  /** Access time of the file in epoch milliseconds: the time of the last recorded use. */
  usedMs: number;
  /** Whether the content matches `hash`; absent before the file's first read in this process. */
  intact?: Promise<boolean>;
}

const mediaTypes = new Map<string, string>(
  Object.entries(mediaExtensions).map(([type, end]) => [end, type]),
);

const fileName = /^([0-9a-f]{64})-([0-9a-f]{32})\.(jpg|png|gif|webp|avif)$/;

type Changes = Pick<PictureStore, 'close'> & { add(work: () => Promise<void>): void };

/** Creates a queue that runs file operations one by one, so that few files are open at a time. */
function createChanges(onError: (error: unknown) => void): Changes {
  let last = Promise.resolve();
  return {
    add: (work) => {
      last = last.then(work).catch(onError);
    },
    close: () => last,
  };
}

type Files = ReturnType<typeof createFiles>;

function createFiles({ folder, maxBytes }: DiskOptions, changes: Changes) {
  const remove = (name: string) => changes.add(() => unlink(join(folder, name)));
  const files = new LRUCache<string, StoredFile>({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: ({ size }) => countBytes(size),
    noDisposeOnSet: true,
    dispose: ({ name }) => remove(name),
  });
  return {
    get: (key: string) => files.get(key),
    put: (key: string, file: StoredFile) => {
      const earlier = files.peek(key);
      files.set(key, file);
      if (earlier !== undefined && earlier.name !== file.name) remove(earlier.name);
      // The limit of the cache can be lower than in an earlier process.
      if (!files.has(key)) remove(file.name);
    },
    delete: (key: string, file = files.peek(key)) => {
      if (file !== undefined && files.peek(key) === file) files.delete(key);
    },
  };
}

function createDiskStore(options: DiskOptions): PictureStore {
  const { folder, clock, onFailure } = options;
  const ignoreMissing = (error: unknown) => {
    if (!isCode(error, 'ENOENT')) onFailure(error);
  };
  const changes = createChanges(ignoreMissing);
  const files = createFiles(options, changes);
  let loading: Promise<void> | undefined;
  const load = () => {
    loading ??= loadFiles(folder, files).catch(onFailure);
    return loading;
  };
  const noteUse = (file: StoredFile) => {
    const nowMs = clock.now();
    if (nowMs - file.usedMs < useIntervalMs) return;
    file.usedMs = nowMs;
    changes.add(() => utimes(join(folder, file.name), nowMs / 1000, file.storedMs / 1000));
  };
  const findFile = async (key: string) => {
    await load();
    const file = files.get(key);
    if (file === undefined || clock.now() - file.storedMs >= keepMs) return undefined;
    noteUse(file);
    return file;
  };
  return {
    find: async (key) => {
      const file = await findFile(key);
      return file === undefined ? null : toFacts(file);
    },
    read: async (key) => {
      const file = await findFile(key);
      if (file === undefined) return null;
      const content = await openIntact(join(folder, file.name), file).catch(ignoreMissing);
      if (content) return { ...toFacts(file), content };
      files.delete(key, file);
      return null;
    },
    write: async (key, given) => {
      await load();
      const picture = await toPicture(given);
      if (countBytes(given.bytes.length) > options.maxBytes) return picture;
      const file = await writePicture(key, picture, options).catch(onFailure);
      if (file !== undefined) files.put(key, file);
      return picture;
    },
    delete: async (key) => {
      await load();
      files.delete(key);
    },
    close: async () => {
      await loading;
      await changes.close();
    },
  };
}

const toFacts = ({ extension, size, hash }: StoredFile): PictureFacts => ({
  mediaType: mediaTypes.get(extension) ?? '',
  size,
  hash,
});

/** Opens a file; `null` if a crash left it incomplete. @throws Error of the operating system */
async function openIntact(path: string, stored: StoredFile): Promise<FileHandle | null> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size === stored.size) {
      stored.intact ??= hashFile(file).then((hash) => hash === stored.hash);
      if (await stored.intact) return file;
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return null;
}

/** Returns the hash of a file. Reads it in small parts, so that other work can run in between. */
async function hashFile(file: FileHandle): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of file.createReadStream({ start: 0, autoClose: false })) hash.update(part);
  return hash.digest('hex').slice(0, hashLength);
}

async function writePicture(
  key: string,
  { mediaType, size, hash, content }: Picture & { readonly content: Buffer },
  { folder, clock, random }: DiskOptions,
): Promise<StoredFile> {
  const extension = extensionOf(mediaType);
  const name = `${key}-${hash}.${extension}`;
  const draft = join(folder, `${random.bytes(12).toString('hex')}.part`);
  const nowMs = clock.now();
  try {
    await writeFile(draft, content, { mode: 0o600, flag: 'wx' });
    giveToOwnerOf(folder, draft);
    await utimes(draft, nowMs / 1000, nowMs / 1000);
    await rename(draft, join(folder, name));
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {}); // the first error is the cause
    throw error;
  }
  const intact = Promise.resolve(true);
  return { name, hash, extension, size, storedMs: nowMs, usedMs: nowMs, intact };
}

async function loadFiles(folder: string, files: Files): Promise<void> {
  makePrivateFolder(folder);
  restrictToOwner(folder);
  const found: (StoredFile & { readonly key: string })[] = [];
  for await (const { name } of await opendir(folder)) {
    const path = join(folder, name);
    if (name.endsWith('.part')) await unlink(path);
    const [, key, hash, extension] = fileName.exec(name) ?? [];
    if (key === undefined || hash === undefined || extension === undefined) continue;
    const { size, atimeMs, mtimeMs } = await stat(path);
    found.push({ key, name, hash, extension, size, storedMs: mtimeMs, usedMs: atimeMs });
  }
  found.sort((a, b) => a.usedMs - b.usedMs);
  for (const { key, ...file } of found) files.put(key, file);
}
