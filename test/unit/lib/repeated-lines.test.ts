import { expect, it } from 'vitest';
import { createRepeatedLines } from '../../../src/lib/repeated-lines.ts';
import { createManualClock } from '../../support/manual-clock.ts';

it('writes a line once a minute for each key, and counts the omitted lines', async () => {
  const clock = createManualClock();
  const repeated = createRepeatedLines(clock);
  const written: unknown[] = [];
  const write = (key: string) => repeated(key, (fields) => written.push({ key, ...fields }));

  for (const key of ['disk', 'disk', 'disk', 'model']) write(key);
  await clock.advance(60_000);
  write('disk');
  await clock.advance(60_000);
  write('disk');

  expect(written).toEqual([
    { key: 'disk' },
    { key: 'model' },
    { key: 'disk', repeated: 2 },
    { key: 'disk' },
  ]);
});
