import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccountReference } from '../../model/reference.ts';
import type { ExportFile } from '../imports/export-source.ts';
import type { ArchiveStore } from '../store/store.ts';
import { type MediaFolder, type ReceivedFile, UnreadableFileError } from './media-folder.ts';

export const zeroCounts = {
  stored: 0,
  bytes: 0,
  /** Files that the archive already had. */
  known: 0,
  /** Files that do not fit in the size limit of all media files together. */
  over_quota: 0,
  /** Files that exceed the size limit of one file. */
  too_large: 0,
  /** Files whose content is not an image, video or audio in a supported format. */
  unsupported: 0,
  unreadable: 0,
  /** Files to which no imported post or profile refers, such as pictures of private posts. */
  unused: 0,
};

/** Numbers of files by result of the import, and the size of the stored files in bytes. */
export type MediaCounts = Readonly<typeof zeroCounts>;

export interface MediaOutcome {
  /** `locked`: another process was storing media files, so this import did not store any. */
  readonly ended: 'done' | 'stopped' | 'locked';
  readonly counts: MediaCounts;
}

interface MediaImport {
  readonly store: ArchiveStore;
  readonly folder: MediaFolder;
  /** Account whose posts and profile refer to the files. */
  readonly owner: AccountReference;
  readonly files: AsyncIterable<ExportFile>;
  /** Returns a media file's name in posts and profiles; `null` for any other file. */
  readonly nameOf: (path: string) => string | null;
  readonly limits: { readonly fileBytes: number; readonly totalBytes: number };
  readonly signal: AbortSignal;
  readonly onProgress: (counts: MediaCounts) => void;
}

const turnFiles = 200;

/**
 * Stores the media files to which imported posts or profiles refer. Can be repeated: files already
 * in the archive are not read again.
 * @throws Error with a system error code, such as `ENOSPC`, if the disk cannot store a file
 */
export async function importMedia(options: MediaImport): Promise<MediaOutcome> {
  const { store, folder } = options;
  const counts = { ...zeroCounts };
  const lock = folder.lock();
  if (lock === null) return { ended: 'locked', counts };
  try {
    folder.removeIncomplete();
    removeFiles(store, folder);
    return { ended: await importFiles(options, counts), counts };
  } finally {
    lock.release();
  }
}

type Counts = { -readonly [Name in keyof MediaCounts]: number };

async function importFiles(options: MediaImport, counts: Counts): Promise<'done' | 'stopped'> {
  const { files, signal, onProgress } = options;
  const storeFile = createFileWriter(options);
  let seen = 0;
  for await (const file of files) {
    seen += 1;
    if (seen % turnFiles === 0) await nextTurn();
    const result = signal.aborted ? 'stopped' : await storeFile(file);
    if (result === 'stopped') return result;
    if (result !== null) count(counts, result, file.bytes);
    onProgress(counts);
  }
  return 'done';
}

function count(counts: Counts, result: CountedResult, bytes: number): void {
  counts[result] += 1;
  if (result === 'stored') counts.bytes += bytes;
}

type CountedResult = Exclude<keyof MediaCounts, 'bytes'>;

type FileResult = CountedResult | 'stopped' | null;

function createFileWriter(options: MediaImport) {
  const { store, folder, owner, nameOf, limits } = options;
  let used = store.countMedia().bytes;
  /** Returns the reason to skip a file, as the name of a counter; `null` if it must be read. */
  const check = ({ bytes }: ExportFile, name: string): CountedResult | null => {
    const hashes = store.findNamedMedia(owner, name);
    if (hashes.length === 0) return 'unused';
    const copies = hashes.map((hash) => (hash === null ? undefined : store.findMediaCopy(hash)));
    if (copies.every((copy) => copy !== undefined && folder.has(copy))) return 'known';
    if (bytes > limits.fileBytes) return 'too_large';
    return used + bytes > limits.totalBytes ? 'over_quota' : null;
  };
  return async (file: ExportFile): Promise<FileResult> => {
    const name = nameOf(file.name);
    if (name === null) return null;
    const reason = check(file, name);
    if (reason !== null) return reason;
    const received = await receive(file, options);
    if (typeof received === 'string') return received;
    const result = placeFile(received, name, options);
    if (result === 'stored') used += received.copy.bytes;
    return result;
  };
}

function placeFile(
  received: ReceivedFile,
  name: string,
  { store, folder, owner }: MediaImport,
): 'stored' | 'known' | 'unused' {
  const { copy } = received;
  let result: 'stored' | 'known' | 'unused' = 'unused';
  store.transact(() => {
    const isKnown = store.findMediaCopy(copy.hash) !== undefined;
    // The account can have been removed in the meantime.
    if (!store.addMediaCopy(owner, name, copy)) return;
    folder.place(received);
    result = isKnown ? 'known' : 'stored';
  });
  folder.discard(received);
  return result;
}

async function receive(file: ExportFile, { folder, signal }: MediaImport) {
  try {
    const received = await folder.receive(file.read(), { maxBytes: file.bytes, signal });
    if (received.kind === 'unsupported') return 'unsupported';
    // A file whose size differs from the size in the export is damaged.
    if (received.kind === 'too_large') return 'unreadable';
    if (received.copy.bytes === file.bytes) return received;
    folder.discard(received);
    return 'unreadable';
  } catch (error) {
    if (signal.aborted) return 'stopped';
    if (error instanceof UnreadableFileError) return 'unreadable';
    throw error;
  }
}

type Store = Pick<ArchiveStore, 'transact' | 'deleteUnusedMedia' | 'findMediaCopy'>;

/**
 * Deletes media files without a reference or row, and interrupted imports' temporary files unless
 * another process stores media files. Returns the number of deleted files that had a row.
 */
export function removeUnusedMedia(store: Store, folder: MediaFolder): number {
  folder.removeInterrupted();
  return removeFiles(store, folder);
}

function removeFiles(store: Store, folder: MediaFolder): number {
  let count = 0;
  // Other processes place files within a transaction, so a file is not stored while it is deleted
  // here.
  store.transact(() => {
    const unused = store.deleteUnusedMedia();
    for (const hash of unused) folder.remove(hash);
    count = unused.length;
  });
  for (const hashes of folder.listHashes()) {
    store.transact(() => {
      for (const hash of hashes) if (store.findMediaCopy(hash) === undefined) folder.remove(hash);
    });
  }
  return count;
}
