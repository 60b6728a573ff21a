import { createHash, type Hash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../lib/clock.ts';
import type { Account } from '../../model/account.ts';
import type { AccountReference, Platform } from '../../model/reference.ts';
import type { ImportCounts, NewImport, StoredImport } from '../store/import-rows.ts';
import type { ArchiveStore } from '../store/store.ts';
import { blueskyFormat } from './bluesky/bluesky-format.ts';
import type {
  ExportedPost,
  ExportFiles,
  ExportFormat,
  ExportHints,
  ExportItem,
  ExportSource,
  LeftOutContent,
  MediaReference,
  SkippedRecord,
} from './export-source.ts';
import { mastodonFormat } from './mastodon/mastodon-format.ts';
import { ndjsonFormat } from './ndjson/ndjson-format.ts';
import { openExportFiles } from './open-files.ts';
import { xCsvFormat } from './x/csv-format.ts';
import { xFormat } from './x/x-format.ts';

export interface ImportOptions {
  readonly store: ArchiveStore;
  readonly source: ExportSource;
  readonly newImport: NewImport;
  readonly clock: Clock;
  /** Signal that stops the import after the current batch. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ImportState) => void;
  readonly onSkipped: (record: SkippedRecord) => void;
}

export interface ImportState {
  readonly counts: ImportCounts;
  /** Number of items of the export stored so far, by this run and earlier runs. */
  readonly items: number;
}

export interface ImportOutcome extends ImportState {
  readonly number: number;
  /** `known`: an earlier run imported everything. `stopped`: the next run resumes the import. */
  readonly ended: 'done' | 'known' | 'stopped';
  readonly resumedAfter: number;
  /** Whether the export is truncated, so that the number of missing items is unknown. */
  readonly isCutOff: boolean;
  /** First `maxLeftOut` entries that this run left out; `counts.left_out` counts all. */
  readonly leftOut: readonly LeftOutContent[];
}

const maxLeftOut = 60;

const batchLimits = {
  /** Maximum number of items in memory before they are written. */
  items: 500,
  /** Milliseconds after which a transaction ends, so that other writers do not wait for long. */
  ms: 50,
  /** Number of bytes read from the export after which the items in memory are written. */
  bytes: 4 * 2 ** 20,
} as const;

/**
 * Imports an export, or resumes its import.
 * @throws Error if the export is unreadable, or if another process is importing it
 */
export async function runImport(options: ImportOptions): Promise<ImportOutcome> {
  const { store, newImport, clock } = options;
  const begun = store.beginImport(newImport, toSeconds(clock.now()));
  const { number, items: resumedAfter } = begun;
  if (begun.isDone) {
    const { counts, items } = begun;
    return { number, counts, items, ended: 'known', resumedAfter, isCutOff: false, leftOut: [] };
  }
  const writer = createWriter(options, begun);
  const ended = await readItems(options, writer);
  // A truncated import never counts as done, so that each repeated import reports the truncation.
  if (ended === 'done' && !writer.remarks.isCutOff) writer.finish();
  return { number, ...writer.state(), ...writer.remarks, ended, resumedAfter };
}

async function readItems(
  { source, signal }: ImportOptions,
  writer: ReturnType<typeof createWriter>,
): Promise<'done' | 'stopped'> {
  try {
    for await (const group of source.groups()) {
      for (const item of group) if (writer.add(item) && signal.aborted) return 'stopped';
      // Items that an earlier run has stored fill no batch, so the signal is checked here too.
      if (signal.aborted) return 'stopped';
    }
    return 'done';
  } finally {
    // If reading fails, the items read so far are stored.
    writer.write();
  }
}

function createWriter(options: ImportOptions, begun: StoredImport) {
  const { store, clock, source } = options;
  const itemWriter = createItemWriter(options, begun.number);
  let state: ImportState = { counts: begun.counts, items: begun.items };
  let batch: ExportItem[] = [];
  let seen = 0;
  let bytes = 0;
  const remarks: Remarks = { isCutOff: false, leftOut: [] };
  const advance = (next: ImportState, isDone: boolean) => {
    const progress = { ...next, isDone, before: state.items, now: toSeconds(clock.now()) };
    if (!store.advanceImport(begun.number, progress)) throw new Error(concurrentImport);
  };
  const writeSome = (items: readonly ExportItem[]): ImportState => {
    const until = clock.now() + batchLimits.ms;
    const counts = { ...state.counts };
    let taken = 0;
    for (const item of items) {
      counts[itemWriter.write(item)] += 1;
      taken += 1;
      if (clock.now() >= until) break;
    }
    return { counts, items: state.items + taken };
  };
  const write = () => {
    while (batch.length > 0) {
      let next = state;
      store.transact(() => {
        next = writeSome(batch);
        advance(next, false);
      });
      batch = batch.slice(next.items - state.items);
      state = next;
    }
    bytes = source.bytesRead;
    options.onProgress(state);
  };
  return {
    /** Adds an item unless an earlier run stored it. Writes a full batch and returns `true`. */
    add: (item: ExportItem): boolean => {
      seen += 1;
      note(remarks, item);
      if (seen <= begun.items) {
        itemWriter.setOwner(item);
        return false;
      }
      if (item.kind === 'skipped') options.onSkipped(item);
      batch.push(item);
      const isFull =
        batch.length >= batchLimits.items || source.bytesRead - bytes >= batchLimits.bytes;
      if (isFull) write();
      return isFull;
    },
    write,
    finish: () => store.transact(() => advance(state, true)),
    state: () => state,
    remarks,
  };
}

interface Remarks {
  isCutOff: boolean;
  readonly leftOut: LeftOutContent[];
}

function note(remarks: Remarks, item: ExportItem): void {
  if (item.kind === 'skipped') remarks.isCutOff ||= item.isCutOff === true;
  if (item.kind === 'left-out' && remarks.leftOut.length < maxLeftOut) remarks.leftOut.push(item);
}

function createItemWriter({ store, newImport: { exported } }: ImportOptions, number: number) {
  let owner: AccountReference | null = null;
  const setOwner = (item: ExportItem): void => {
    if (item.kind === 'account') owner = toReference(item.account);
  };
  const requirePlatform = (): Platform => {
    if (owner !== null) return owner.platform;
    throw new Error('The export has reposts or follows before the account that they belong to.');
  };
  const addReferences = (media: readonly MediaReference[] = [], author: string): void => {
    for (const reference of media)
      if (owner !== null) store.addMediaReference({ ...reference, owner, author });
  };
  const writePost = ({ post, parentId, created, media, stored = exported }: ExportedPost) => {
    const { platform, id, author } = post;
    const handle = author?.screen_name.toLowerCase() ?? '';
    addReferences(media, handle);
    if (id === null) return 'faults';
    store.putPost({ platform, handle, id, parentId, created, stored, post });
    return 'posts';
  };
  const writeItem = (item: ExportItem): keyof ImportCounts => {
    setOwner(item);
    switch (item.kind) {
      case 'left-out':
        return 'left_out';
      case 'skipped':
        return item.cause === 'private' ? 'hidden' : 'faults';
      case 'account': {
        const reference = toReference(item.account);
        store.putAccount({ stored: exported, ...item });
        store.addImportedAccount(number, reference);
        addReferences(item.media, reference.handle);
        return 'accounts';
      }
      case 'post':
        return writePost(item);
      case 'repost':
        store.putRepost({ stored: exported, ...item, platform: requirePlatform() });
        return 'reposts';
      case 'follow':
        store.putFollow({ stored: exported, ...item, platform: requirePlatform() });
        return 'follows';
    }
  };
  return { setOwner, write: writeItem };
}

const toReference = ({ platform, screen_name }: Account): AccountReference => ({
  platform,
  handle: screen_name.toLowerCase(),
});

const concurrentImport =
  'Another process is importing the same export, or its account was removed. Run the import again.';

const toSeconds = (ms: number): number => Math.floor(ms / 1000);

/** Formats for which an export is tested, in this order. */
export const exportFormats: readonly ExportFormat[] = [
  ndjsonFormat,
  xFormat,
  blueskyFormat,
  mastodonFormat,
  xCsvFormat,
];

export interface OpenedExport {
  readonly format: ExportFormat;
  readonly files: ExportFiles;
  /** Source of the items. Its `close()` closes `files`. */
  readonly source: ExportSource;
}

/** Opens an export; returns `null` if no format matches. @throws Error if opening fails */
export async function openExport(
  path: string,
  { formats, hints }: { readonly formats: readonly ExportFormat[]; readonly hints: ExportHints },
): Promise<OpenedExport | null> {
  const files = await openExportFiles(path);
  try {
    for (const format of formats) {
      const source = await format.open(files, hints);
      if (source !== null) return { format, files, source };
    }
  } catch (error) {
    await files.close();
    throw error;
  }
  await files.close();
  return null;
}

const importVersion = 3;

const sample = { bytes: 65_536, places: 8 } as const;

/** Hashes an export and `form` (format and handle). `changed`: latest Unix second of its files. */
export async function fingerprintExport({ path, kind, files }: ExportFiles, form: string) {
  const hash = createHash('sha256').update(`${importVersion} ${form}\n`);
  let changed = kind === 'folder' ? 0 : await addFile(hash, path);
  // Media files and web pages are not imported, so they are not hashed.
  for (const { name } of kind === 'folder' ? files : []) {
    hash.update(`${name}\n`);
    changed = Math.max(changed, await addFile(hash, join(path, name)));
  }
  return { changed, fingerprint: hash.digest('hex') };
}

async function addFile(hash: Hash, path: string): Promise<number> {
  const { size, mtimeMs } = await stat(path);
  hash.update(`${size} ${mtimeMs}\n`);
  const file = await open(path, 'r');
  const buffer = Buffer.alloc(sample.bytes);
  try {
    for (let place = 0; place < sample.places; place++) {
      const at = Math.floor((Math.max(0, size - sample.bytes) * place) / (sample.places - 1));
      const { bytesRead } = await file.read(buffer, 0, sample.bytes, at);
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
  return Math.floor(mtimeMs / 1000);
}
