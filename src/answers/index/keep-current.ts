import { type FSWatcher, watch } from 'node:fs';
import type { Clock } from '../../core/clock.ts';
import type { RefreshProgress } from './refresh.ts';

/** Result of a refresh, with the number of passages that the index has now. */
export interface RefreshSummary extends RefreshProgress {
  readonly passages: number;
  readonly ms: number;
}

/** Signal and listener of a refresh. `onFolder` is called with each folder before it is read. */
export interface RefreshLive {
  readonly signal: AbortSignal;
  onFolder(absolute: string): void;
}

interface KeepingOptions {
  readonly clock: Clock;
  refreshNow(live: RefreshLive): Promise<Omit<RefreshSummary, 'ms'>>;
  /** Delay of the first refresh of `keepCurrent`. Default: 0. */
  readonly firstAfterMs?: number;
  readonly onRefreshed?: (summary: RefreshSummary) => void;
  /** Called when a refresh of `keepCurrent` failed; it is tried again. */
  readonly onTrouble?: (error: unknown) => void;
}

/** Time until files are checked again if no change was reported. */
const rescanMs = { watched: 600_000, unwatched: 30_000 } as const;
/** An editor writes a file in several steps; they are waited for. */
const settleMs = 300;

/** Opens the refreshing of an index, one refresh at a time. Nothing is done yet. Close it with `close()`. */
export function openKeeping(options: KeepingOptions) {
  const { clock, firstAfterMs = 0 } = options;
  const stop = new AbortController();
  // Aborted by the first change since the last wait.
  let pause = new AbortController();
  const upset = () => pause.abort();
  const folders = openFolderWatch(upset);
  let keeping: Promise<void> = Promise.resolve();
  let running: Promise<unknown> = Promise.resolve();
  const refreshNow = async (signal: AbortSignal): Promise<RefreshSummary> => {
    signal.throwIfAborted();
    const startMs = clock.now();
    const done = await options.refreshNow({ signal, onFolder: folders.visit });
    folders.leaveOthers();
    const summary = { ...done, ms: clock.now() - startMs };
    options.onRefreshed?.(summary);
    return summary;
  };
  const refresh = (signal?: AbortSignal): Promise<RefreshSummary> => {
    // `keepCurrent` passes no signal: each one that `any` makes of `stop` is remembered by it.
    const both = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
    const next = running.then(() => refreshNow(both));
    running = Promise.allSettled([next]); // the caller of this refresh is told of its failure
    return next;
  };
  const keepRefreshing = async () => {
    await clock.sleep(firstAfterMs, stop.signal);
    for (;;) {
      const [result] = await Promise.allSettled([refresh()]);
      const isCurrent = result.status === 'fulfilled';
      if (!isCurrent && !stop.signal.aborted) options.onTrouble?.(result.reason);
      const watched = isCurrent && folders.isComplete() ? 'watched' : 'unwatched';
      await Promise.allSettled([clock.sleep(rescanMs[watched], pause.signal)]); // or a change
      pause = new AbortController();
      await clock.sleep(settleMs, stop.signal);
    }
  };
  return {
    /** Throws if the refresh fails, or the reason of the signal, or of `close`. */
    refresh,
    keepCurrent: () => {
      keeping = keepRefreshing().catch((error) => {
        if (!stop.signal.aborted) throw error;
      });
    },
    /** Notes that the index is not what the last refresh left: it is refreshed again. */
    upset,
    close: async () => {
      stop.abort();
      upset();
      folders.close();
      await keeping;
      await running;
    },
  };
}

/** Maximum number of watched folders; the system has a limit for all processes together. */
const maxFolders = 2000;

function openFolderWatch(onChange: () => void) {
  const watchers = new Map<string, FSWatcher>();
  let visited = new Set<string>();
  // The number of folders that are not watched: of the last round of visits, and of the one under way.
  let [missed, missing] = [0, 0];
  const unwatch = (folder: string) => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  return {
    /** False if a folder is not watched: its changes are not reported. */
    isComplete: () => missed + missing === 0,
    /** Watches a folder from now on, and counts it as visited. */
    visit: (folder: string) => {
      visited.add(folder);
      if (watchers.has(folder)) return;
      try {
        if (watchers.size >= maxFolders) throw new RangeError('too many folders');
        const watcher = watch(folder, { persistent: false }, (_, name) => {
          if (name === null || isRead(name)) onChange();
        });
        watcher.on('error', () => {
          missing += 1;
          unwatch(folder);
        });
        watchers.set(folder, watcher);
      } catch {
        missing += 1; // A limit of the system or ours, or a file system that reports no changes.
      }
    },
    leaveOthers: () => {
      for (const folder of [...watchers.keys()]) if (!visited.has(folder)) unwatch(folder);
      visited = new Set();
      [missed, missing] = [missing, 0];
    },
    close: () => {
      for (const folder of [...watchers.keys()]) unwatch(folder);
    },
  };
}

/** Databases and their logs are written all the time, and hidden files are not read. */
function isRead(name: string): boolean {
  if (name.startsWith('.')) return name === '.gitignore';
  return !/\.(?:db|sqlite3?)(?:-\w+)?$/.test(name);
}
