import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AccountReference } from '../../model/reference.ts';
import type { MediaFile } from '../imports/files/media-files.ts';
import type { ArchiveStore } from '../store/store.ts';
import { type MediaFolder, type ReceivedFile, UnreadableFileError } from './media-folder.ts';
import { removeFiles } from './remove-unused.ts';

export const zeroCounts = {
  /** Number of files that this import stored. */
  stored: 0,
  /** Total size in bytes of the files that this import stored. */
  bytes: 0,
  /** Number of files that the archive already had. */
  known: 0,
  /** Number of files that do not fit in the size limit of all media files together. */
  over_quota: 0,
  /** Number of files that exceed the size limit of one file. */
  too_large: 0,
  /** Number of files whose content is not an image, video or audio in a supported format. */
  unsupported: 0,
  unreadable: 0,
  /** Number of files without a reference from an imported post or profile, such as the pictures of private posts. */
  unused: 0,
};

/** Numbers of media files by result of the import, and the size of the stored files in bytes. */
export type MediaCounts = Readonly<typeof zeroCounts>;

export interface MediaOutcome {
  /**
   * Reason why the import ended. `done`: all files were handled. `stopped`: the import was aborted.
   * `locked`: another process was storing media files, so this import did not store any.
   */
  readonly ended: 'done' | 'stopped' | 'locked';
  readonly counts: MediaCounts;
}

export interface MediaImport {
  readonly store: ArchiveStore;
  readonly folder: MediaFolder;
  /** Account whose posts and profile refer to the files. */
  readonly owner: AccountReference;
  readonly files: AsyncIterable<MediaFile>;
  /** Returns the name by which posts and profiles refer to a media file; `null` for any other file. */
  readonly nameOf: (path: string) => string | null;
  readonly limits: {
    /** Maximum size in bytes of one file. */
    readonly fileBytes: number;
    /** Maximum size in bytes of all media files of the archive together. */
    readonly totalBytes: number;
  };
  readonly signal: AbortSignal;
  readonly onProgress: (counts: MediaCounts) => void;
}

const turnFiles = 200;

/**
 * Stores those media files of an export to which imported posts or profiles refer. Can be repeated: files that are
 * already in the archive are not read again.
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

/**
 * Result of one file of an export: the name of the counter to increment; `stopped` after an abort; `null` for a file
 * whose path shows that it is not a media file, so that no counter is incremented.
 */
type FileResult = CountedResult | 'stopped' | null;

function createFileWriter(options: MediaImport) {
  const { store, folder, owner, nameOf, limits } = options;
  let used = store.countMedia().bytes;
  /** Returns the reason to skip a file, as the name of a counter; `null` if the file must be read. */
  const check = ({ bytes }: MediaFile, name: string): CountedResult | null => {
    const hashes = store.findNamedMedia(owner, name);
    if (hashes.length === 0) return 'unused';
    const copies = hashes.map((hash) => (hash === null ? undefined : store.findMediaCopy(hash)));
    if (copies.every((copy) => copy !== undefined && folder.has(copy))) return 'known';
    if (bytes > limits.fileBytes) return 'too_large';
    return used + bytes > limits.totalBytes ? 'over_quota' : null;
  };
  return async (file: MediaFile): Promise<FileResult> => {
    const name = nameOf(file.path);
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

async function receive(file: MediaFile, { folder, signal }: MediaImport) {
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
