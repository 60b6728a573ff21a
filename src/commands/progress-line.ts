import { createProgressReports } from '../answers/index/progress-reports.ts';
import type { RefreshProgress } from '../answers/index/refresh.ts';
import { systemClock } from '../core/clock.ts';
import type { CommandContext } from './command.ts';

/** Tells whoever waits on standard error how many files were read. */
export interface ProgressLine {
  /** Takes in how far the index is. */
  readonly hear: (progress: RefreshProgress) => void;
  /** Takes the line away. */
  clear(): void;
}

/** Creates a line that is written over on a terminal, and several lines elsewhere; nothing in the first second. */
export function createProgressLine({ stderr }: Pick<CommandContext, 'stderr'>): ProgressLine {
  const isTerminal = stderr.isTTY === true;
  let isShown = false;
  const reports = createProgressReports({
    clock: systemClock,
    quietMs: 1000,
    everyMs: isTerminal ? 100 : 2000,
    tell: ({ read }) => {
      isShown = true;
      const text = `perch: ${read} files read for the index`;
      stderr.write(isTerminal ? `\r${text}\u001b[K` : `${text}\n`);
    },
  });
  return {
    hear: reports.hear,
    clear: () => {
      if (isShown && isTerminal) stderr.write('\r\u001b[K');
    },
  };
}
