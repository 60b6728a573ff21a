import { expect, it } from 'vitest';
import { createOutput } from '../../../../src/cli/output/output.ts';
import { createProgressLine } from '../../../../src/cli/output/progress-line.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

/** Gives what is written while files are read, twenty in half a second, and after. */
async function read(halfSeconds: number, isTTY: boolean): Promise<readonly string[]> {
  const clock = createManualClock();
  const written: string[] = [];
  const stderr = createOutput({ isTTY, write: (text) => written.push(text) });
  const line = createProgressLine(stderr, clock);
  for (let time = 1; time <= halfSeconds; time += 1) {
    line.hear({ files: 500, read: 20 * time, removed: 0 });
    await clock.advance(500);
  }
  line.clear();
  return written;
}

it.each([true, false])('says nothing of what is quick (on a terminal: %s)', async (isTTY) => {
  expect(await read(2, isTTY)).toEqual([]);
});

it('writes over its line on a terminal, and takes it away', async () => {
  expect(await read(4, true)).toEqual([
    '\rperch: 60 files read for the index\u001b[K',
    '\rperch: 80 files read for the index\u001b[K',
    '\r\u001b[K',
  ]);
});

it('writes plain lines elsewhere', async () => {
  expect(await read(8, false)).toEqual([
    'perch: 60 files read for the index\n',
    'perch: 140 files read for the index\n',
  ]);
});
