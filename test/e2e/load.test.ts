import { expect, it, onTestFinished } from 'vitest';
import { openLoadGauge } from '../../src/http/operations/load.ts';

it('calls the load high while the event loop is blocked, and low again afterwards', async () => {
  const gauge = openLoadGauge(30);
  onTestFinished(() => gauge.close());
  // A timer that keeps the loop late: each turn blocks it for a tenth of a second.
  const busy = setInterval(() => {
    const end = Date.now() + 100;
    while (Date.now() < end);
  }, 1);

  await expect.poll(() => gauge.isHigh).toBe(true);
  clearInterval(busy);

  await expect.poll(() => gauge.isHigh).toBe(false);
});

it('never calls it high with a limit of 0', () => {
  const gauge = openLoadGauge(0);
  onTestFinished(() => gauge.close());

  expect(gauge.isHigh).toBe(false);
});
