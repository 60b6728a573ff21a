import { expect, it } from 'vitest';
import { createIndexRecord } from '../../../../src/answers/index/passage-index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

it('records the progress, the result and the last error of index updates', async () => {
  const clock = createManualClock();
  const record = createIndexRecord(clock);
  const progress = { files: 20, read: 20, removed: 0 };
  const summary = { ...progress, skipped: { size: 1 }, passages: 90, ms: 400 };

  expect(record.read()).toEqual({ progress: null, current: null, failure: null });
  record.callbacks.onProgress(progress);
  expect(record.read()).toEqual({ progress, current: null, failure: null });
  record.callbacks.onError(new Error('The folder is gone.'));
  const failure = { message: 'The folder is gone.', atMs: clock.now() };
  expect(record.read()).toEqual({ progress: null, current: null, failure });
  await clock.advance(1000);
  record.callbacks.onRefreshed(summary);

  const current = { ...summary, atMs: clock.now() };
  expect(record.read()).toEqual({ progress: null, current, failure: null });
});
