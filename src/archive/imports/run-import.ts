import type { Clock } from '../../core/clock.ts';
import type { Platform } from '../../model/reference.ts';
import type { ImportCounts, NewImport, StoredImport } from '../store/import-rows.ts';
import type { ArchiveStore } from '../store/store.ts';
import type { ExportedPost, ExportItem, ExportSource, SkippedRecord } from './export-source.ts';

export interface ImportOptions {
  readonly store: ArchiveStore;
  readonly source: ExportSource;
  readonly found: NewImport;
  readonly clock: Clock;
  /** Stops it after the batch that is being written. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ImportState) => void;
  /** Told of every record that is left out, in this run. */
  readonly onSkipped: (record: SkippedRecord) => void;
}

export interface ImportState {
  readonly counts: ImportCounts;
  /** How many items of the export are in the archive. */
  readonly items: number;
}

export interface ImportOutcome extends ImportState {
  /** `known`: it was in the archive already, whole. `stopped`: it goes on where it was stopped. */
  readonly ended: 'done' | 'known' | 'stopped';
  /** How many items had been read by an earlier run. */
  readonly resumedAfter: number;
  /** Whether the export ends too early, so that there is no telling what is missing. */
  readonly isCutOff: boolean;
}

/** Maximum of a batch: others who write wait for 50 ms at most, and large records take little memory. */
const batchLimits = { items: 500, ms: 50, bytes: 4 * 2 ** 20 } as const;

/**
 * Imports an export in transactions that also note how far it is, where the next run goes on after a kill.
 * @throws Error with a sentence if the export cannot be read, or somebody else imports it
 */
export async function runImport(options: ImportOptions): Promise<ImportOutcome> {
  const { store, found, clock } = options;
  const begun = store.beginImport(found, toSeconds(clock.now()));
  const resumedAfter = begun.items;
  if (begun.isDone) {
    const { counts, items } = begun;
    return { counts, items, ended: 'known', resumedAfter, isCutOff: false };
  }
  const writer = createWriter(options, begun);
  const ended = await readItems(options, writer);
  // What was cut off is never done: importing it again says so again.
  if (ended === 'done' && !writer.isCutOff()) writer.finish();
  return { ...writer.state(), ended, resumedAfter, isCutOff: writer.isCutOff() };
}

async function readItems(
  { source, signal }: ImportOptions,
  writer: ReturnType<typeof createWriter>,
): Promise<'done' | 'stopped'> {
  try {
    for await (const group of source.groups()) {
      for (const item of group) if (writer.add(item) && signal.aborted) return 'stopped';
      // What an earlier run has read fills no batch, and can be stopped all the same.
      if (signal.aborted) return 'stopped';
    }
    return 'done';
  } finally {
    // Where the export cannot be read to its end, what was read of it counts.
    writer.write();
  }
}

function createWriter(options: ImportOptions, begun: StoredImport) {
  const { store, clock, source } = options;
  const put = createPut(options, begun.number);
  let state: ImportState = { counts: begun.counts, items: begun.items };
  let batch: ExportItem[] = [];
  let seen = 0;
  let bytes = 0;
  let isCutOff = false;
  const advance = (next: ImportState, isDone: boolean) => {
    const progress = { ...next, isDone, before: state.items, now: toSeconds(clock.now()) };
    if (!store.advanceImport(begun.number, progress)) throw new Error(meanwhile);
  };
  /** Puts items for as long as a transaction may last. */
  const putSome = (items: readonly ExportItem[]): ImportState => {
    const until = clock.now() + batchLimits.ms;
    const counts = { ...state.counts };
    let taken = 0;
    for (const item of items) {
      counts[put.item(item)] += 1;
      taken += 1;
      if (clock.now() >= until) break;
    }
    return { counts, items: state.items + taken };
  };
  const write = () => {
    while (batch.length > 0) {
      let next = state;
      store.transact(() => {
        next = putSome(batch);
        advance(next, false);
      });
      batch = batch.slice(next.items - state.items);
      state = next;
    }
    bytes = source.bytesRead;
    options.onProgress(state);
  };
  return {
    /** Takes an item, unless an earlier run has, and writes the batch once it is full; returns whether it was. */
    add: (item: ExportItem): boolean => {
      seen += 1;
      if (item.kind === 'skipped') isCutOff ||= item.isCutOff === true;
      if (seen <= begun.items) {
        put.learn(item);
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
    isCutOff: () => isCutOff,
  };
}

/**
 * Creates what puts items into the archive. What is held and followed by name is of the platform of the account that
 * came last, so accounts of an earlier run have to be learned.
 */
function createPut({ store, found }: ImportOptions, number: number) {
  let platform: Platform | null = null;
  const learn = (item: ExportItem): void => {
    if (item.kind === 'account') platform = item.account.platform;
  };
  const takePlatform = (): Platform => {
    if (platform !== null) return platform;
    throw new Error('The export tells of connections before it tells whose they are.');
  };
  /** Puts an item; returns what it counts as. */
  const putItem = (item: ExportItem): keyof ImportCounts => {
    if (item.kind === 'skipped') return item.cause === 'private' ? 'hidden' : 'faults';
    const { stored = found.exported } = item;
    learn(item);
    switch (item.kind) {
      case 'account': {
        const { platform, screen_name } = item.account;
        store.putAccount({ account: item.account, stored });
        store.noteImported(number, { platform, handle: screen_name.toLowerCase() });
        return 'accounts';
      }
      case 'post':
        return putPost(item, store, stored);
      case 'repost': {
        const { kind: _kind, ...repost } = item;
        store.putRepost({ ...repost, platform: takePlatform(), stored });
        return 'reposts';
      }
      case 'follow': {
        const { follower, followed } = item;
        store.putFollow({ platform: takePlatform(), follower, followed, stored });
        return 'follows';
      }
    }
  };
  return { learn, item: putItem };
}

function putPost(
  { post, parentId, created }: ExportedPost,
  store: ArchiveStore,
  stored: number,
): keyof ImportCounts {
  if (post.id === null) return 'faults';
  const handle = post.author?.screen_name.toLowerCase() ?? '';
  const { platform, id } = post;
  store.putPost({ platform, handle, id, parentId, created, stored, post });
  return 'posts';
}

const meanwhile =
  'The same export is being imported by another process, or its account was removed.';

function toSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
