import type { ExportSource, SkippedRecord } from '../../archive/imports/export-source.ts';
import type { ImportState } from '../../archive/imports/run-import.ts';
import type { Clock } from '../../core/clock.ts';
import type { Output } from '../output/output.ts';

/** What is told of an import while it runs. */
export interface ImportProgressLine {
  hear(state: ImportState): void;
  skip(record: SkippedRecord): void;
  /** Takes the line away, and says how many warnings were not shown. */
  end(): void;
}

/** The most records that are named; the others are counted. */
const maxWarnings = 20;

const barWidth = 20;

/**
 * Creates what tells how far an import is: on a terminal a line that is written over, elsewhere a line
 * every few seconds. Records that are left out are named.
 */
export function createImportProgress(
  stderr: Output,
  clock: Clock,
  source: ExportSource,
): ImportProgressLine {
  const everyMs = stderr.isTerminal ? 100 : 5000;
  const begunMs = clock.now();
  let dueMs = begunMs + everyMs;
  let itemsBefore: number | null = null;
  let warnings = 0;
  const clear = () => stderr.clearLine();
  return {
    hear: ({ items }) => {
      itemsBefore ??= items;
      const nowMs = clock.now();
      if (nowMs < dueMs) return;
      dueMs = nowMs + everyMs;
      const rate = ((items - itemsBefore) / (nowMs - begunMs)) * 1000;
      const text = `perch: ${tellShare(source)}${toCount(items)} items, ${toCount(Math.round(rate))} a second`;
      if (stderr.isTerminal) stderr.showLine(text);
      else stderr.write(`${text}\n`);
    },
    skip: ({ where, why, cause, isAccount = false }) => {
      if (isAccount) {
        clear();
        stderr.write(`perch: ${why}\n`);
      }
      if (isAccount || cause === 'private') return;
      warnings += 1;
      if (warnings > maxWarnings) return;
      clear();
      stderr.write(`perch: ${where} is left out. ${why}\n`);
    },
    end: () => {
      clear();
      if (warnings <= maxWarnings) return;
      stderr.write(`perch: ${toCount(warnings - maxWarnings)} more records are left out\n`);
    },
  };
}

function tellShare({ bytesRead, totalBytes }: ExportSource): string {
  if (totalBytes === null || totalBytes === 0) return '';
  const share = Math.min(1, bytesRead / totalBytes);
  const full = Math.floor(share * barWidth);
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${percent}% [${'#'.repeat(full)}${' '.repeat(barWidth - full)}] `;
}

/** Gives a number as people write it: `12,345`. */
export function toCount(count: number): string {
  return count.toLocaleString('en');
}
