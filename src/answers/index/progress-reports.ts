import type { Clock } from '../../core/clock.ts';
import type { RefreshProgress } from './refresh.ts';

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
