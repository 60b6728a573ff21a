import { createProgressReports } from '../../answers/index/progress-reports.ts';
import type { RefreshProgress } from '../../answers/index/refresh.ts';
import type { Clock } from '../../core/clock.ts';
import type { Output } from './output.ts';

/** A word on how far an index is, for whoever waits for it. */
export interface ProgressLine {
  hear(progress: RefreshProgress): void;
  /** Takes the line away where there is one that is written over. */
  clear(): void;
}

/**
 * Creates the word on how many files were read, where that takes more than a second: on a terminal a
 * line that is written over, elsewhere a line every two seconds.
 */
export function createProgressLine(stderr: Output, clock: Clock): ProgressLine {
  const { isTerminal } = stderr;
  let isShown = false;
  const reports = createProgressReports({
    clock,
    quietMs: 1000,
    everyMs: isTerminal ? 100 : 2000,
    tell: ({ read }) => {
      isShown = true;
      const text = `perch: ${read} files read for the index`;
      if (isTerminal) stderr.showLine(text);
      else stderr.write(`${text}\n`);
    },
  });
  return {
    hear: reports.hear,
    clear: () => {
      if (isShown) stderr.clearLine();
    },
  };
}
