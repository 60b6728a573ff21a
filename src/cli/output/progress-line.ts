import { createProgressReports } from '../../answers/index/progress-reports.ts';
import type { Clock } from '../../core/clock.ts';
import type { Output } from './output.ts';

/** A line on how far an index is, for whoever waits for it. */
export type ProgressLine = ReturnType<typeof createProgressLine>;

/**
 * Creates the line on how many files were read, where that takes more than a second: on a terminal it is
 * written over, elsewhere a line comes every two seconds. `clear` removes it from the terminal.
 */
export function createProgressLine(stderr: Output, clock: Clock) {
  let isShown = false;
  const { report: hear } = createProgressReports({
    clock,
    quietMs: 1000,
    everyMs: stderr.isTerminal ? 100 : 2000,
    onReport: ({ read }) => {
      isShown = true;
      stderr.showProgress(`perch: ${read} files read for the index`);
    },
  });
  return {
    hear,
    clear: () => {
      if (isShown) stderr.clearLine();
    },
  };
}
