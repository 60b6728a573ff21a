import { expect, it } from 'vitest';
import type { ExportSource } from '../../../../src/archive/imports/export-source.ts';
import { zeroCounts } from '../../../../src/archive/media/import-media.ts';
import { noCounts } from '../../../../src/archive/store/import-rows.ts';
import { createImportProgress } from '../../../../src/cli/archive/import.ts';
import { createOutput } from '../../../../src/cli/output/output.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const source: ExportSource = {
  title: 'X export',
  totalBytes: 1000,
  bytesRead: 420,
  groups: async function* () {},
  close: async () => undefined,
};

async function runImport(isTTY: boolean) {
  const written: string[] = [];
  const clock = createManualClock();
  const stderr = createOutput({ isTTY, write: (text) => written.push(text) });
  const progress = createImportProgress(stderr, clock, { name: 'export.zip', source });
  progress.onProgress({ items: 1000, counts: noCounts });
  await clock.advance(5000);
  progress.onProgress({ items: 6000, counts: noCounts });
  progress.onProgress({ items: 6500, counts: noCounts });
  return { written, clock, progress };
}

it('updates one progress bar on a terminal', async () => {
  const { written, progress } = await runImport(true);
  progress.end();

  expect(written).toEqual([
    '\rperch:  42% [####      ] 6,000 items, 1,000 per second, 5 s, export.zip\u001b[K',
    '\r\u001b[K',
  ]);
});

it('shows the media files that are stored', async () => {
  const { written, clock, progress } = await runImport(true);
  written.length = 0;
  await clock.advance(100);
  progress.onMedia({ ...zeroCounts, stored: 3, bytes: 2e6 });

  expect(written).toEqual(['\rperch: 3 media files, 2 MB stored, 5 s, export.zip\u001b[K']);
});

it('prints no progress elsewhere', async () => {
  const { written, progress } = await runImport(false);
  progress.end();

  expect(written).toEqual([]);
});

it('names the first twenty skipped records, and counts the others', async () => {
  const { written, progress } = await runImport(false);
  written.length = 0;
  for (let record = 1; record <= 1234; record++) {
    progress.onSkipped({
      kind: 'skipped',
      location: `record ${record}`,
      reason: 'It is odd.',
      cause: 'fault',
    });
  }
  progress.onSkipped({
    kind: 'skipped',
    location: 'a secret',
    reason: 'It is private.',
    cause: 'private',
  });
  progress.end();

  expect(written).toHaveLength(21);
  expect(written[0]).toBe('perch: record 1 was skipped. It is odd.\n');
  expect(written[20]).toBe('perch: 1,214 more records were skipped.\n');
});
