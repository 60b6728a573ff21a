import { describe, expect, it, onTestFinished } from 'vitest';
import type { Clock } from '../../../src/core/clock.ts';
import { openMinuteHistory } from '../../../src/http/operations/minute-history.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const minuteMs = 60_000;
const startMs = Date.UTC(2026, 10, 21, 12, 0, 20);

/** Opens a history of two counters that the test increases. */
function openHistory<Used extends Clock>(clock: Used) {
  const counters = { requests: 5, errors: 0 };
  const names = ['requests', 'errors'] as const;
  const history = openMinuteHistory({ clock, names, read: () => ({ ...counters }) });
  onTestFinished(() => history.close());
  const requests = (count: number, minutes = 1) =>
    history.list(count, minutes).map(({ counts }) => counts.requests);
  return { clock, counters, history, requests };
}

describe('the history of counters', () => {
  it('counts the growth of each minute, without counts from before its start', async () => {
    const { clock, counters, history } = openHistory(createManualClock(startMs));

    counters.requests += 3;
    await clock.advance(40_000);
    counters.requests += 2;
    counters.errors += 1;

    expect(history.list(3, 1)).toEqual([
      { startMs: Date.UTC(2026, 10, 21, 11, 59), counts: { requests: 0, errors: 0 } },
      { startMs: Date.UTC(2026, 10, 21, 12, 0), counts: { requests: 3, errors: 0 } },
      { startMs: Date.UTC(2026, 10, 21, 12, 1), counts: { requests: 2, errors: 1 } },
    ]);
  });

  it('counts nothing twice if it is read often', async () => {
    const { clock, counters, requests } = openHistory(createManualClock(startMs));

    counters.requests += 3;
    expect([requests(1), requests(1)]).toEqual([[3], [3]]);
    counters.requests += 1;
    expect(requests(1)).toEqual([4]);
    await clock.advance(40_000);

    expect(requests(2)).toEqual([4, 0]);
  });

  it('sums periods of several minutes that start at whole quarters of an hour', async () => {
    const { clock, counters, history, requests } = openHistory(
      createManualClock(Date.UTC(2026, 10, 21, 12, 14, 20)),
    );

    counters.requests += 1;
    await clock.advance(40_000); // 12:15
    counters.requests += 10;
    await clock.advance(minuteMs);
    counters.requests += 100;

    expect(requests(3, 15)).toEqual([0, 1, 110]);
    expect(history.list(1, 15)[0]?.startMs).toBe(Date.UTC(2026, 10, 21, 12, 15));
  });

  it.each([-4, 4])('assigns counts to the ended minute if its timer ends %i ms off', async (ms) => {
    const manual = createManualClock(startMs);
    const clock = { ...manual, sleep: (wait: number) => manual.sleep(wait + ms) };
    const { counters, history } = openHistory(clock);

    counters.requests += 3;
    await manual.advance(40_000 + ms);
    counters.requests += 2;
    await manual.advance(minuteMs);

    const counted = history.list(3, 1).filter(({ counts }) => counts.requests > 0);
    expect(counted.map(({ startMs: start, counts }) => [start, counts.requests])).toEqual([
      [Date.UTC(2026, 10, 21, 12, 0), 3],
      [Date.UTC(2026, 10, 21, 12, 1), 2],
    ]);
  });

  it('forgets counts after a day', async () => {
    const { clock, counters, requests } = openHistory(createManualClock(startMs));

    counters.requests += 7;
    for (let minute = 0; minute < 1439; minute += 1) await clock.advance(minuteMs);
    expect(requests(1440)[0]).toBe(7);
    await clock.advance(minuteMs);

    expect(requests(1441).reduce((sum, count) => sum + count)).toBe(0);
    counters.requests += 2;
    expect(requests(1)).toEqual([2]);
  });

  it('leaves minutes empty in which the computer slept', async () => {
    const { clock, counters, requests } = openHistory(createManualClock(startMs));

    counters.requests += 1;
    await clock.advance(40_000);
    counters.requests += 2;
    await clock.advance(5 * minuteMs);

    expect(requests(7)).toEqual([1, 0, 0, 0, 0, 2, 0]);
  });

  it('starts again after a clock that was days ahead is set right', async () => {
    const { clock, counters, requests } = openHistory(createManualClock(startMs + 7 * 86_400_000));

    counters.requests += 1;
    requests(1);
    const now = clock.now;
    (clock as { now: () => number }).now = () => now() - 7 * 86_400_000;
    counters.requests += 2;

    expect(requests(2)).toEqual([0, 2]);
  });

  it('keeps its counts if the clock is set back by some minutes', async () => {
    const { clock, counters, requests } = openHistory(createManualClock(startMs));

    counters.requests += 1;
    requests(1);
    const now = clock.now;
    (clock as { now: () => number }).now = () => now() - 3 * minuteMs;
    counters.requests += 2;
    requests(1);
    (clock as { now: () => number }).now = now;

    expect(requests(2)).toEqual([0, 3]);
  });

  it('ends its timer when it is closed', async () => {
    const { clock, counters, history } = openHistory(createManualClock(startMs));
    let reads = 0;
    const other = openMinuteHistory({
      clock,
      names: ['requests'],
      read: () => {
        reads += 1;
        return counters;
      },
    });

    history.close();
    other.close();
    const before = reads;
    await clock.advance(10 * minuteMs);

    expect(reads).toBe(before);
  });
});
