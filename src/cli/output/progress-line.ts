import { createProgressReports } from '../../answers/index/progress-reports.ts';
import type { Clock } from '../../core/clock.ts';
import type { Output } from './output.ts';

export type ProgressLine = ReturnType<typeof createProgressLine>;

/** Shows indexing progress: one updated line on a terminal, elsewhere new lines. */
export function createProgressLine(stderr: Output, clock: Clock) {
  const { report: hear } = createProgressReports({
    clock,
    quietMs: 1000,
    everyMs: stderr.hasStatusLine ? 100 : 2000,
    onReport: ({ read }) => stderr.showProgress(`perch: Building the index: ${read} files read`),
  });
  return {
    hear,
    clear: stderr.clearLine,
  };
}
