import { expect, it } from 'vitest';
import { createProgressReports } from '../../../../src/answers/index/progress-reports.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

function createRig() {
  const clock = createManualClock();
  const told: number[] = [];
  const reports = createProgressReports({
    clock,
    quietMs: 1000,
    everyMs: 2000,
    onReport: ({ read }) => told.push(read),
  });
  const hear = (read: number) => reports.report({ files: 500, read, removed: 0 });
  return { clock, told, hear, end: reports.end };
}

it('reports nothing for a fast refresh', async () => {
  const { clock, told, hear } = createRig();

  hear(20);
  await clock.advance(999);
  hear(40);

  expect(told).toEqual([]);
});

it('reports a slow refresh at most once per interval', async () => {
  const { clock, told, hear } = createRig();
  hear(20);

  for (let read = 40; read <= 400; read += 20) {
    await clock.advance(500);
    hear(read);
  }

  expect(told).toEqual([60, 140, 220, 300, 380]);
});

it('reports nothing if no file was read', async () => {
  const { clock, told, hear } = createRig();
  hear(0);

  await clock.advance(60_000);
  hear(0);

  expect(told).toEqual([]);
});

it('starts over with the next refresh', async () => {
  const { clock, told, hear, end } = createRig();
  hear(20);
  await clock.advance(1000);
  hear(40);
  end();

  await clock.advance(60_000);
  hear(1);

  expect(told).toEqual([40]);
});
