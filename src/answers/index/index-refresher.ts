import { type FSWatcher, watch } from 'node:fs';
import type { Clock } from '../../lib/clock.ts';
import type { RefreshProgress, RefreshResult } from './refresh.ts';

/** Result of an update. `passages`: number in the whole index. `ms`: duration. */
export interface RefreshSummary extends RefreshResult {
  readonly passages: number;
  readonly ms: number;
}

/** Signal and callback of an update. The callback gets each folder's path before it is read. */
export interface RefreshHooks {
  readonly signal: AbortSignal;
  onFolder(absolute: string): void;
}

interface IndexRefresherOptions {
  readonly clock: Clock;
  refreshNow(hooks: RefreshHooks): Promise<Omit<RefreshSummary, 'ms'>>;
  /** Delay before the first update by `keepCurrent`. Default: 0. */
  readonly firstAfterMs?: number;
  readonly onRefreshed?: (summary: RefreshSummary) => void;
  /** Called when an index update by `keepCurrent` fails. The update is retried later. */
  readonly onError?: (error: unknown) => void;
}

const rescanMs = {
  /** Milliseconds between full index updates if all folders are watched for changes. */
  watched: 600_000,
  /** Milliseconds between full index updates if some folders cannot be watched for changes. */
  unwatched: 30_000,
} as const;
/** Delay between a file change and the update. Several changes in this time cause only one. */
const debounceMs = 300;

/** Creates an updater that runs on request, or continuously until `close()`; one run at a time. */
export function openIndexRefresher(options: IndexRefresherOptions) {
  const { clock, firstAfterMs = 0 } = options;
  const stop = new AbortController();
  // The first file change since the last index update aborts this controller.
  let pause = new AbortController();
  const requestRefresh = () => pause.abort();
  const folders = openFolderWatch(requestRefresh);
  let background: Promise<void> = Promise.resolve();
  let running: Promise<unknown> = Promise.resolve();
  const refreshNow = async (signal: AbortSignal): Promise<RefreshSummary> => {
    signal.throwIfAborted();
    const startMs = clock.now();
    const done = await options.refreshNow({ signal, onFolder: folders.watchFolder });
    folders.unwatchUnvisited();
    const summary = { ...done, ms: clock.now() - startMs };
    options.onRefreshed?.(summary);
    return summary;
  };
  const refresh = (signal?: AbortSignal): Promise<RefreshSummary> => {
    // Without a signal, uses `stop` itself, because `stop` would keep a reference to each signal
    // that `any` creates.
    const both = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
    const next = running.then(() => refreshNow(both));
    running = Promise.allSettled([next]); // the caller of `refresh` gets the error
    return next;
  };
  const keepRefreshing = async () => {
    await clock.sleep(firstAfterMs, stop.signal);
    for (;;) {
      const [result] = await Promise.allSettled([refresh()]);
      const isCurrent = result.status === 'fulfilled';
      if (!isCurrent && !stop.signal.aborted) options.onError?.(result.reason);
      const watched = isCurrent && folders.isComplete() ? 'watched' : 'unwatched';
      await Promise.allSettled([clock.sleep(rescanMs[watched], pause.signal)]); // or until a file changes
      pause = new AbortController();
      await clock.sleep(debounceMs, stop.signal);
    }
  };
  return {
    /** Updates the index once. Throws if it fails, if the signal is aborted, or on `close`. */
    refresh,
    keepCurrent: () => {
      background = keepRefreshing().catch((error) => {
        if (!stop.signal.aborted) throw error;
      });
    },
    requestRefresh,
    close: async () => {
      stop.abort();
      requestRefresh();
      folders.close();
      await background;
      await running;
    },
  };
}

const maxFolders = 2000;

function openFolderWatch(onChange: () => void) {
  const watchers = new Map<string, FSWatcher>();
  let visited = new Set<string>();
  // Numbers of folders that could not be watched: in the last index update, and in the current one.
  let [missed, missing] = [0, 0];
  const unwatch = (folder: string) => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  return {
    /** Returns whether all folders are watched, so that no file change is missed. */
    isComplete: () => missed + missing === 0,
    /** Watches a folder and marks it as visited, so that `unwatchUnvisited` keeps it. */
    watchFolder: (folder: string) => {
      visited.add(folder);
      if (watchers.has(folder)) return;
      try {
        if (watchers.size >= maxFolders) throw new RangeError('too many folders');
        const watcher = watch(folder, { persistent: false }, (_, name) => {
          if (name === null || isRelevant(name)) onChange();
        });
        watcher.on('error', () => {
          missing += 1;
          unwatch(folder);
        });
        watchers.set(folder, watcher);
      } catch {
        missing += 1; // A limit was reached, or the file system does not report changes.
      }
    },
    unwatchUnvisited: () => {
      for (const folder of [...watchers.keys()]) if (!visited.has(folder)) unwatch(folder);
      visited = new Set();
      [missed, missing] = [missing, 0];
    },
    close: () => {
      for (const folder of [...watchers.keys()]) unwatch(folder);
    },
  };
}

function isRelevant(name: string): boolean {
  if (name.startsWith('.')) return name === '.gitignore';
  return !/\.(?:db|sqlite3?)(?:-\w+)?$/.test(name);
}

interface ProgressReportsOptions {
  readonly clock: Clock;
  /** Milliseconds before the first report. Shorter index updates are not reported. */
  readonly quietMs: number;
  /** Minimum time between two reports, in milliseconds. */
  readonly everyMs: number;
  onReport(progress: RefreshProgress): void;
}

/** Creates a throttle that limits how often the progress of an index update is reported. */
export function createProgressReports(options: ProgressReportsOptions) {
  const { clock, quietMs, everyMs, onReport } = options;
  let dueMs: number | null = null;
  return {
    /** Reports progress if a report is due. Unchanged files do not count as progress. */
    report: (progress: RefreshProgress) => {
      if (progress.read === 0) return;
      const nowMs = clock.now();
      dueMs ??= nowMs + quietMs;
      if (nowMs < dueMs) return;
      dueMs = nowMs + everyMs;
      onReport(progress);
    },
    end: () => {
      dueMs = null;
    },
  };
}
