import { expect, it } from 'vitest';
import { createFailedAttempts } from '../../../../src/http/admin/guard.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

/** Creates a count whose clock notes how long it is asked to sleep, and sleeps not at all. */
function createNotedTries() {
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

it('remembers ten thousand addresses, and those that tried last', async () => {
  const { slept, slow } = createNotedTries();
  for (const address of ['a', 'b', 'a', 'b', 'a', 'b']) await slow(address);
  for (let n = 0; n < 9998; n += 1) await slow(`other ${n}`);

  await slow('b');
  await slow('one more');
  await slow('b');
  await slow('a');

  expect(slept).toEqual([250, 500]);
});

it('forgets each address a minute after its own last try', async () => {
  const { slept, slow, advance } = createNotedTries();
  for (const address of ['a', 'a', 'a', 'b', 'b', 'b']) await slow(address);

  await advance(30_000);
  await slow('b');
  await advance(30_000);
  await slow('a');
  await slow('b');

  expect(slept).toEqual([250, 500]);
});
