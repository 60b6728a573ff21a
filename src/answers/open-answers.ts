import type { Clock } from '../core/clock.ts';
import type { AnswerEngine } from './answer.ts';
import type { Corpus } from './corpus/corpus.ts';
import { createExtractiveEngine } from './engine/extractive-engine.ts';
import type { PassageSource } from './engine/given-passages.ts';
import { openKeeping, type RefreshSummary } from './index/keep-current.ts';
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
  /** Told when the index has been brought up to date. */
  readonly onRefreshed?: (summary: RefreshSummary) => void;
  /** Told of an index that could not be brought up to date, and of a thread that has ended; it is tried again. */
  readonly onTrouble?: (error: unknown) => void;
}

/** An engine and the index that it answers from. */
export interface Answers {
  readonly engine: AnswerEngine;
  /** What the engine finds, for a language model to answer from. */
  readonly passages: PassageSource;
  /** Brings the index up to date once. Throws where that fails. */
  refresh(signal?: AbortSignal): Promise<RefreshSummary>;
  /** Brings the index up to date, and again whenever the corpora change, until it is closed. */
  keepCurrent(): void;
  /** Ends what is under way and closes the index. */
  close(): Promise<void>;
}

/**
 * Opens the index and the engine over it in this thread, for those who do nothing else meanwhile; a
 * server has `openThreadedAnswers`. Nothing is read yet. What an earlier process has
 * built for the same corpora answers at once.
 *
 * @throws Error when the file of the index cannot be opened.
 */
export function openAnswers(options: AnswersOptions): Answers {
  const { corpora, path, onProgress = () => {} } = options;
  const index = openPassageIndex(path);
  let isBuilt = index.isBuiltFor(corpora);
  const engine = createExtractiveEngine({ index, corpora, isReady: () => isBuilt });
  const keeping = openKeeping({
    ...options,
    refreshNow: async (live) => {
      const progress = await refreshIndex({ index, corpora, onProgress, ...live });
      engine.forget();
      isBuilt = true;
      return { ...progress, passages: index.totals().passages };
    },
  });
  return {
    engine,
    passages: engine.passages,
    refresh: keeping.refresh,
    keepCurrent: keeping.keepCurrent,
    close: async () => {
      await keeping.close();
      index.close();
    },
  };
}
