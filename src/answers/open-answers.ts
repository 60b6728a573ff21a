import type { Clock } from '../lib/clock.ts';
import { type AnswerEngine, type PassageSource, toExtractiveEngine } from './answer.ts';
import type { Corpus } from './corpus/corpus.ts';
import { createExtractiveEngine } from './engine/extractive-engine.ts';
import { openIndexRefresher, type RefreshSummary } from './index/index-refresher.ts';
import { openPassageIndex } from './index/passage-index.ts';
import { type RefreshProgress, refreshIndex } from './index/refresh.ts';

export interface AnswersOptions {
  readonly corpora: readonly Corpus[];
  /** Path of the file that contains the search index, or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  readonly onProgress?: (progress: RefreshProgress) => void;
  /** Called after each successful update of the index. */
  readonly onRefreshed?: (summary: RefreshSummary) => void;
  /** Called when an update fails (to be retried) or a worker thread ends unexpectedly. */
  readonly onError?: (error: unknown) => void;
}

export interface Answers {
  readonly engine: AnswerEngine;
  readonly passages: PassageSource;
  /** Updates the search index once. Throws if the update fails. */
  refresh(signal?: AbortSignal): Promise<RefreshSummary>;
  /** Updates the index now and after each change of an indexed file, until `close` is called. */
  keepCurrent(): void;
  /** Stops a running update and closes the search index. */
  close(): Promise<void>;
}

/** Opens an engine without reading documents. Throws Error if the index cannot be opened. */
export function openAnswers(options: AnswersOptions): Answers {
  const { corpora, path, onProgress } = options;
  const index = openPassageIndex(path);
  let isBuilt = index.isBuiltFor(corpora);
  const { answer, passages } = createExtractiveEngine(index, corpora);
  const refresher = openIndexRefresher({
    ...options,
    refreshNow: async (hooks) => {
      const progress = await refreshIndex({ index, corpora, onProgress, ...hooks });
      isBuilt = true;
      return { ...progress, passages: index.totals().passages };
    },
  });
  return {
    engine: toExtractiveEngine(answer, () => isBuilt),
    passages,
    ...refresher,
    close: async () => {
      await refresher.close();
      index.close();
    },
  };
}
