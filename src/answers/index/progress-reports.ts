import type { Clock } from '../../core/clock.ts';
import type { RefreshProgress } from './refresh.ts';

/** A refresh that takes no longer than `quietMs` is not reported; `everyMs` is the least time between two reports. */
interface ProgressReportsOptions {
  readonly clock: Clock;
  readonly quietMs: number;
  readonly everyMs: number;
  tell(progress: RefreshProgress): void;
}

/** Creates reports of refreshes for a person who waits: none of what is quick, and not too many. */
export function createProgressReports(options: ProgressReportsOptions) {
  const { clock, quietMs, everyMs, tell } = options;
  let dueMs: number | null = null;
  return {
    /** Reports progress if it is due. Files that need not be read are no progress. */
    hear: (progress: RefreshProgress) => {
      if (progress.read === 0) return;
      const nowMs = clock.now();
      dueMs ??= nowMs + quietMs;
      if (nowMs < dueMs) return;
      dueMs = nowMs + everyMs;
      tell(progress);
    },
    end: () => {
      dueMs = null;
    },
  };
}
