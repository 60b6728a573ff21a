import { expect, it } from 'vitest';
import { createProgressLine } from '../../../../src/cli/ask-session.ts';
import { createOutput } from '../../../../src/cli/output/output.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

/** Returns the output while twenty files are read in each half second. */
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

it.each([true, false])('prints nothing in the first second (terminal: %s)', async (isTTY) => {
  expect(await read(2, isTTY)).toEqual([]);
});

it('updates one line on a terminal, and removes it', async () => {
  expect(await read(4, true)).toEqual([
    '\rperch: Building the index: 60 files read\u001b[K',
    '\rperch: Building the index: 80 files read\u001b[K',
    '\r\u001b[K',
  ]);
});

it('prints plain lines elsewhere', async () => {
  expect(await read(8, false)).toEqual([
    'perch: Building the index: 60 files read\n',
    'perch: Building the index: 140 files read\n',
  ]);
});
