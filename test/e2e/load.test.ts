import { expect, it, onTestFinished } from 'vitest';
import { createRecentMaximum, openLoadGauge } from '../../src/routes/monitoring/load.ts';

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

it('remembers the highest delay among the last checks only', () => {
  const recent = createRecentMaximum(3);
  const add = (number: number) => {
    recent.add(number);
    return [recent.last, recent.highest];
  };

  expect([recent.last, recent.highest]).toEqual([0, 0]);
  expect([9, 1, 4, 2, 3].map(add)).toEqual([
    [9, 9],
    [1, 9],
    [4, 9],
    [2, 4],
    [3, 4],
  ]);
});
