import type { Clock } from '../../core/clock.ts';
import type { RefreshProgress } from './refresh.ts';

/** How often progress is told, and to whom. */
export interface ProgressReportsOptions {
  readonly clock: Clock;
  /** A refresh that takes no longer is not told of. */
  readonly quietMs: number;
  /** The least time between two reports. */
  readonly everyMs: number;
  tell(progress: RefreshProgress): void;
}

/** The reports of refreshes, one after the other. */
export interface ProgressReports {
  /** Tells of progress, where it is time to. Files that need not be read are none. */
  hear(progress: RefreshProgress): void;
  /** Says that a refresh is over. */
  end(): void;
}

/** Creates reports for a person who waits: none of what is quick, and not too many. */
export function createProgressReports(options: ProgressReportsOptions): ProgressReports {
  const { clock, quietMs, everyMs, tell } = options;
  let dueMs: number | null = null;
  return {
    hear: (progress) => {
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
