import { createProgressReports } from '../../answers/index/progress-reports.ts';
import type { Clock } from '../../core/clock.ts';
import type { Output } from './output.ts';

export type ProgressLine = ReturnType<typeof createProgressLine>;

/**
 * Creates the progress display while the search index is built: one updated line on a terminal, elsewhere new lines.
 */
export function createProgressLine(stderr: Output, clock: Clock) {
  let isShown = false;
  const { report: hear } = createProgressReports({
    clock,
    quietMs: 1000,
    everyMs: stderr.isTerminal ? 100 : 2000,
    onReport: ({ read }) => {
      isShown = true;
      stderr.showProgress(`perch: Building the index: ${read} files read`);
    },
  });
  return {
    hear,
    clear: () => {
      if (isShown) stderr.clearLine();
    },
  };
}
