import type { Clock } from '../core/clock.ts';
import { type AnswerEngine, type PassageSource, toExtractiveEngine } from './answer.ts';
import type { Corpus } from './corpus/corpus.ts';
import { createExtractiveEngine } from './engine/extractive-engine.ts';
import { openKeeping, type RefreshSummary } from './index/keep-current.ts';
import { openPassageIndex } from './index/passage-index.ts';
import { type RefreshProgress, refreshIndex } from './index/refresh.ts';

export interface AnswersOptions {
  readonly corpora: readonly Corpus[];
  /** The file of the index, or `:memory:`. */
  readonly path: string;
  readonly clock: Clock;
  readonly onProgress?: (progress: RefreshProgress) => void;
  /** Called when the index is up to date. */
  readonly onRefreshed?: (summary: RefreshSummary) => void;
  /** Called when a refresh failed, which is tried again, and when a thread has ended. */
  readonly onTrouble?: (error: unknown) => void;
}

/** An engine and the index that it answers from. */
export interface Answers {
  readonly engine: AnswerEngine;
  /** The passages that the engine finds, for a language model to answer from. */
  readonly passages: PassageSource;
  /** Brings the index up to date once. Throws if that fails. */
  refresh(signal?: AbortSignal): Promise<RefreshSummary>;
  /** Brings the index up to date, and again whenever the corpora change, until it is closed. */
  keepCurrent(): void;
  /** Ends what is under way and closes the index. */
  close(): Promise<void>;
}

/**
 * Opens the index and the engine in this thread; a server uses `openThreadedAnswers`. Nothing is read yet; an index of an
 * earlier process for the same corpora is used at once. @throws Error if its file cannot be opened
 */
export function openAnswers(options: AnswersOptions): Answers {
  const { corpora, path, onProgress } = options;
  const index = openPassageIndex(path);
  let isBuilt = index.isBuiltFor(corpora);
  const { answer, passages } = createExtractiveEngine(index, corpora);
  const keeping = openKeeping({
    ...options,
    refreshNow: async (live) => {
      const progress = await refreshIndex({ index, corpora, onProgress, ...live });
      isBuilt = true;
      return { ...progress, passages: index.totals().passages };
    },
  });
  return {
    engine: toExtractiveEngine(answer, () => isBuilt),
    passages,
    ...keeping,
    close: async () => {
      await keeping.close();
      index.close();
    },
  };
}
