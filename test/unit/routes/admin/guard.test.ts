import { expect, it } from 'vitest';
import { createFailedAttempts } from '../../../../src/routes/admin/guard.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

/** Creates a record of failed attempts with a clock that records delays without waiting. */
function createRecordedAttempts() {
  const slept: number[] = [];
  const { now, advance } = createManualClock();
  const clock = {
    now,
    sleep: async (ms: number) => {
      slept.push(ms);
    },
  };
  const { signal } = new AbortController();
  const attempts = createFailedAttempts(clock);
  return { slept, advance, slow: (address: string) => attempts.recordFailure(address, signal) };
}

it('stores the attempts of the ten thousand addresses that tried last', async () => {
  const { slept, slow } = createRecordedAttempts();
  for (const address of ['a', 'b', 'a', 'b', 'a', 'b']) await slow(address);
  for (let n = 0; n < 9998; n += 1) await slow(`other ${n}`);

  await slow('b');
  await slow('one more');
  await slow('b');
  await slow('a');

  expect(slept).toEqual([250, 500]);
});

it('forgets an address a minute after its last attempt', async () => {
  const { slept, slow, advance } = createRecordedAttempts();
  for (const address of ['a', 'a', 'a', 'b', 'b', 'b']) await slow(address);

  await advance(30_000);
  await slow('b');
  await advance(30_000);
  await slow('a');
  await slow('b');

  expect(slept).toEqual([250, 500]);
});
