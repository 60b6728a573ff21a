import type { Clock } from '../../core/clock.ts';
import { type FolderWatch, openFolderWatch } from './folder-watch.ts';
import type { RefreshProgress } from './refresh.ts';

/** What a refresh has done, and what there is now. */
export interface RefreshSummary extends RefreshProgress {
  /** The passages of the index. */
  readonly passages: number;
  readonly ms: number;
}

/** What is kept current, and how. */
export interface KeepingOptions {
  readonly clock: Clock;
  /** Brings the index up to date; tells of each folder that it looks into. */
  refreshNow(live: {
    readonly signal: AbortSignal;
    onFolder(absolute: string): void;
  }): Promise<Omit<RefreshSummary, 'ms'>>;
  /** How long `keepCurrent` waits before the first refresh. Default: not at all. */
  readonly firstAfterMs?: number;
  /** Told of each refresh that has ended well. */
  readonly onRefreshed?: (summary: RefreshSummary) => void;
  /** Told of a refresh that failed; it is tried again. */
  readonly onTrouble?: (error: unknown) => void;
}

/** The refreshing of an index: one at a time, once or from now on. */
export interface Keeping {
  /** Throws where it fails, and the reason of the signal, or of the end. */
  refresh(signal?: AbortSignal): Promise<RefreshSummary>;
  keepCurrent(): void;
  /** Says that the index is not what it was after the last refresh. */
  upset(): void;
  /** Ends what is under way. */
  close(): Promise<void>;
}

/** How long it takes until files are looked at again where no change was told. */
const rescanMs = { watched: 600_000, unwatched: 30_000 } as const;

/** An editor writes a file in several steps; they are waited for. */
const settleMs = 300;

/** Opens the keeping of an index; nothing is done yet. The caller closes it. */
export function openKeeping(options: KeepingOptions): Keeping {
  const { clock, onRefreshed = () => {} } = options;
  const stop = new AbortController();
  const watch = openFolderWatch();
  let keeping: Promise<void> = Promise.resolve();
  let running: Promise<unknown> = Promise.resolve();
  const refreshNow = async (signal: AbortSignal): Promise<RefreshSummary> => {
    signal.throwIfAborted();
    const startMs = clock.now();
    const done = await options.refreshNow({ signal, onFolder: (folder) => watch.visit(folder) });
    watch.leaveOthers();
    const summary = { ...done, ms: clock.now() - startMs };
    onRefreshed(summary);
    return summary;
  };
  const refresh = (signal = stop.signal) => {
    const next = running.then(() => refreshNow(AbortSignal.any([signal, stop.signal])));
    // One after the other; who asked for it is told how it went.
    running = next.catch(() => {});
    return next;
  };
  return {
    refresh,
    keepCurrent: () => {
      const { onTrouble = () => {}, firstAfterMs = 0 } = options;
      const loop = { refresh, watch, clock, signal: stop.signal, onTrouble };
      keeping = clock.sleep(firstAfterMs, stop.signal).then(
        () => keepRefreshing(loop),
        () => {}, // closed before it began
      );
    },
    upset: watch.upset,
    close: async () => {
      stop.abort();
      watch.close();
      await keeping;
      await running;
    },
  };
}

interface Loop {
  readonly watch: FolderWatch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  refresh(): Promise<unknown>;
  onTrouble(error: unknown): void;
}

async function keepRefreshing(loop: Loop): Promise<void> {
  const { refresh, watch, signal, onTrouble } = loop;
  while (!signal.aborted) {
    let isCurrent = false;
    try {
      await refresh();
      isCurrent = true;
    } catch (error) {
      if (!signal.aborted) onTrouble(error);
    }
    const willBeTold = isCurrent && watch.isComplete;
    await untilWorthAnother(loop, willBeTold ? rescanMs.watched : rescanMs.unwatched).catch(() => {
      // Aborted: the loop ends.
    });
  }
}

/** Waits for a change, and for it to settle; or for the time after which it is looked again anyway. */
async function untilWorthAnother({ watch, clock, signal }: Loop, longestMs: number): Promise<void> {
  const waiting = new AbortController();
  const both = AbortSignal.any([signal, waiting.signal]);
  const rescan = clock.sleep(longestMs, both);
  try {
    await Promise.race([watch.changed(), rescan]);
  } finally {
    waiting.abort();
    await rescan.catch(() => {
      // It lost the race.
    });
  }
  await clock.sleep(settleMs, signal);
}
