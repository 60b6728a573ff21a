import { expect, it } from 'vitest';
import { createProgressReports } from '../../../../src/answers/index/index-refresher.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

function createRig() {
  const clock = createManualClock();
  const reported: number[] = [];
  const reports = createProgressReports({
    clock,
    quietMs: 1000,
    everyMs: 2000,
    onReport: ({ read }) => reported.push(read),
  });
  const report = (read: number) => reports.report({ files: 500, read, removed: 0 });
  return { clock, reported, report, end: reports.end };
}

it('reports nothing for a fast refresh', async () => {
  const { clock, reported, report } = createRig();

  report(20);
  await clock.advance(999);
  report(40);

  expect(reported).toEqual([]);
});

it('reports a slow refresh at most once per interval', async () => {
  const { clock, reported, report } = createRig();
  report(20);

  for (let read = 40; read <= 400; read += 20) {
    await clock.advance(500);
    report(read);
  }

  expect(reported).toEqual([60, 140, 220, 300, 380]);
});

it('reports nothing if no file was read', async () => {
  const { clock, reported, report } = createRig();
  report(0);

  await clock.advance(60_000);
  report(0);

  expect(reported).toEqual([]);
});

it('starts over with the next refresh', async () => {
  const { clock, reported, report, end } = createRig();
  report(20);
  await clock.advance(1000);
  report(40);
  end();

  await clock.advance(60_000);
  report(1);

  expect(reported).toEqual([40]);
});
