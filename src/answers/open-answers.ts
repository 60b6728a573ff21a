import type { Clock } from '../core/clock.ts';
import type { AnswerEngine } from './answer.ts';
import type { Corpus } from './corpus/corpus.ts';
import { createExtractiveEngine } from './engine/extractive-engine.ts';
import { type FolderWatch, openFolderWatch } from './index/folder-watch.ts';
import { openPassageIndex } from './index/passage-index.ts';
import { type RefreshProgress, refreshIndex } from './index/refresh.ts';

/** What answers are made from. */
export interface AnswersOptions {
  readonly corpora: readonly Corpus[];
  /** The file of the index, or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  /** Told while the index is brought up to date. */
  readonly onProgress?: (progress: RefreshProgress) => void;
  /** Told of an index that could not be brought up to date; it is tried again. */
  readonly onTrouble?: (error: unknown) => void;
}

/** An engine and the index that it answers from. */
export interface Answers {
  readonly engine: AnswerEngine;
  /** Brings the index up to date once. Throws where that fails. */
  refresh(signal?: AbortSignal): Promise<RefreshProgress>;
  /** Brings the index up to date, and again whenever the corpora change, until it is closed. */
  keepCurrent(): void;
  /** Ends what is under way and closes the index. */
  close(): Promise<void>;
}

/** How long it takes until files are looked at again where no change was told. */
const rescanMs = { watched: 600_000, unwatched: 30_000 } as const;

/** An editor writes a file in several steps; they are waited for. */
const settleMs = 300;

/**
 * Opens the index and the engine over it; nothing is read yet. An index that an earlier process left
 * answers at once.
 *
 * @throws Error when the file of the index cannot be opened.
 */
export function openAnswers(options: AnswersOptions): Answers {
  const { corpora, path, clock, onTrouble = () => {} } = options;
  const index = openPassageIndex(path);
  let isBuilt = index.totals().files > 0;
  const engine = createExtractiveEngine({ index, corpora, isReady: () => isBuilt });
  const stop = new AbortController();
  const watch = openFolderWatch();
  let keeping: Promise<void> = Promise.resolve();
  let running: Promise<unknown> = Promise.resolve();
  const refresh = (signal = stop.signal) => {
    const next = running.then(() => refreshNow(AbortSignal.any([signal, stop.signal])));
    // One after the other; who asked for it is told how it went.
    running = next.catch(() => {});
    return next;
  };
  const refreshNow = async (signal: AbortSignal) => {
    const { onProgress = () => {} } = options;
    const onFolder = (folder: string) => watch.visit(folder);
    const progress = await refreshIndex({ index, corpora, signal, onProgress, onFolder });
    watch.leaveOthers();
    engine.forget();
    isBuilt = true;
    return progress;
  };
  return {
    engine,
    refresh,
    keepCurrent: () => {
      keeping = keepRefreshing({ refresh, watch, clock, signal: stop.signal, onTrouble });
    },
    close: async () => {
      stop.abort();
      watch.close();
      await keeping;
      await running;
      index.close();
    },
  };
}

interface Keeping {
  readonly watch: FolderWatch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  refresh(): Promise<unknown>;
  onTrouble(error: unknown): void;
}

async function keepRefreshing(keeping: Keeping): Promise<void> {
  const { refresh, signal, onTrouble } = keeping;
  while (!signal.aborted) {
    try {
      await refresh();
    } catch (error) {
      if (!signal.aborted) onTrouble(error);
    }
    await untilWorthAnother(keeping).catch(() => {
      // Aborted: the loop ends.
    });
  }
}

/** Waits for a change, and for it to settle; or for the time after which it is looked again anyway. */
async function untilWorthAnother({ watch, clock, signal }: Keeping): Promise<void> {
  const waiting = new AbortController();
  const both = AbortSignal.any([signal, waiting.signal]);
  const rescan = clock.sleep(watch.isComplete ? rescanMs.watched : rescanMs.unwatched, both);
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
