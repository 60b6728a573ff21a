import type { ExportSource, SkippedRecord } from '../../archive/imports/export-source.ts';
import type { ImportState } from '../../archive/imports/run-import.ts';
import type { MediaCounts } from '../../archive/media/import-media.ts';
import type { Clock } from '../../core/clock.ts';
import type { Output } from '../output/output.ts';
import { toCount, toElapsed } from '../output/table.ts';
import { describeProgress } from './store-media.ts';

const maxWarnings = 20;

const barWidth = 10;

const everyMs = 100;

interface ImportedFile {
  readonly name: string;
  readonly source: ExportSource;
}

export function createImportProgress(stderr: Output, clock: Clock, { name, source }: ImportedFile) {
  const begunMs = clock.now();
  let dueMs = begunMs + everyMs;
  let itemsBefore: number | null = null;
  let warnings = 0;
  const write = (text: string) => stderr.write(`perch: ${text}\n`);
  const show = (describe: (elapsedMs: number) => string) => {
    const nowMs = clock.now();
    if (nowMs < dueMs) return;
    dueMs = nowMs + everyMs;
    const elapsedMs = nowMs - begunMs;
    stderr.showLine(`perch: ${describe(elapsedMs)}, ${toElapsed(elapsedMs)}, ${name}`);
  };
  return {
    onProgress: ({ items }: ImportState) => {
      const before = itemsBefore ?? items;
      itemsBefore = before;
      show((elapsedMs) => {
        const rate = Math.round(((items - before) / elapsedMs) * 1000);
        return `${renderBar(source)}${toCount(items)} items, ${toCount(rate)} per second`;
      });
    },
    /** Shows the progress of storing media files, which starts after all posts are imported. */
    onMedia: (counts: MediaCounts) => show(() => describeProgress(counts)),
    onSkipped: ({ location, reason, cause, isAccount = false }: SkippedRecord) => {
      if (isAccount) write(reason);
      if (isAccount || cause === 'private') return;
      warnings += 1;
      if (warnings <= maxWarnings) write(`${location} was skipped. ${reason}`);
    },
    end: () => {
      stderr.clearLine();
      if (warnings <= maxWarnings) return;
      stderr.write(`perch: ${toCount(warnings - maxWarnings)} more records were skipped.\n`);
    },
  };
}

function renderBar({ bytesRead, totalBytes }: ExportSource): string {
  if (totalBytes === null || totalBytes === 0) return '';
  const share = Math.min(1, bytesRead / totalBytes);
  const full = Math.floor(share * barWidth);
  const percent = String(Math.floor(share * 100)).padStart(3);
  return `${percent}% [${'#'.repeat(full)}${' '.repeat(barWidth - full)}] `;
}
