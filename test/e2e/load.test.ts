import { expect, it, onTestFinished } from 'vitest';
import { openLoadGauge } from '../../src/routes/monitoring/load.ts';

it('reports high load while the event loop is blocked, and normal load afterwards', async () => {
  const gauge = openLoadGauge(30);
  onTestFinished(() => gauge.close());
  // Each iteration of the event loop is blocked for 100 ms.
  const busy = setInterval(() => {
    const end = Date.now() + 100;
    while (Date.now() < end);
  }, 1);

  await expect.poll(() => gauge.isHigh).toBe(true);
  expect(gauge.delay?.highestMs).toBeGreaterThan(20);
  clearInterval(busy);

  await expect.poll(() => gauge.isHigh).toBe(false);
});

it('never reports high load with a limit of 0', () => {
  const gauge = openLoadGauge(0);
  onTestFinished(() => gauge.close());

  expect(gauge.isHigh).toBe(false);
  expect(gauge.delay).toBeUndefined();
});
