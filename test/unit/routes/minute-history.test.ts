import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openMinuteHistory } from '../../../src/routes/monitoring/minute-history.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const minuteMs = 60_000;
const startMs = Date.UTC(2026, 10, 21, 12, 0, 20);

/** Opens a history of two counters that the test increases. Without `advance`, no second passes for its timer. */
function openHistory(atMs = startMs) {
  const clock = createManualClock(atMs);
  const counters = { requests: 5, errors: 0 };
  const ticks = new Set<() => void>();
  const history = openMinuteHistory({
    clock,
    read: () => ({ ...counters }),
    everySecond: (tick) => {
      ticks.add(tick);
      return () => ticks.delete(tick);
    },
  });
  const advance = async (ms: number) => {
    await clock.advance(ms);
    for (const tick of ticks) tick();
  };
  const requests = (count: number, minutes = 1) =>
    history.list(count, minutes).map(({ counts }) => counts.requests);
  return { clock, counters, ticks, history, advance, requests };
}

describe('the history of counters', () => {
  it('counts the growth of each minute, without counts from before its start', async () => {
    const { counters, history, advance } = openHistory();

    counters.requests += 3;
    await advance(40_000);
    counters.requests += 2;
    counters.errors += 1;

    expect(history.list(3, 1)).toEqual([
      { startMs: Date.UTC(2026, 10, 21, 11, 59), counts: { requests: 0, errors: 0 } },
      { startMs: Date.UTC(2026, 10, 21, 12, 0), counts: { requests: 3, errors: 0 } },
      { startMs: Date.UTC(2026, 10, 21, 12, 1), counts: { requests: 2, errors: 1 } },
    ]);
  });

  it('counts nothing twice if it is read often', async () => {
    const { counters, requests, advance } = openHistory();

    counters.requests += 3;
    expect([requests(1), requests(1)]).toEqual([[3], [3]]);
    counters.requests += 1;
    expect(requests(1)).toEqual([4]);
    await advance(40_000);

    expect(requests(2)).toEqual([4, 0]);
  });

  it('sums periods of several minutes that start at whole quarters of an hour', async () => {
    const { counters, history, requests, advance } = openHistory(
      Date.UTC(2026, 10, 21, 12, 14, 20),
    );

    counters.requests += 1;
    await advance(40_000); // 12:15
    counters.requests += 10;
    await advance(minuteMs);
    counters.requests += 100;

    expect(requests(3, 15)).toEqual([0, 1, 110]);
    expect(history.list(1, 15)[0]?.startMs).toBe(Date.UTC(2026, 10, 21, 12, 15));
  });

  it('assigns counts to the minute of the last second before they were read', async () => {
    const { counters, requests, advance } = openHistory();

    counters.requests += 3;
    await advance(39_000);
    counters.requests += 1;
    await advance(2000); // 12:01:01
    counters.requests += 2;

    expect(requests(2)).toEqual([4, 2]);
  });

  it('forgets counts after a day', async () => {
    const { counters, requests, advance } = openHistory();

    counters.requests += 7;
    for (let minute = 0; minute < 1439; minute += 1) await advance(minuteMs);
    expect(requests(1440)[0]).toBe(7);
    await advance(minuteMs);

    expect(requests(1441).reduce((sum, count) => sum + count)).toBe(0);
    counters.requests += 2;
    expect(requests(1)).toEqual([2]);
  });

  it('leaves minutes empty in which the computer slept', async () => {
    const { counters, requests, advance } = openHistory();

    counters.requests += 1;
    await advance(40_000);
    counters.requests += 2;
    await advance(5 * minuteMs);

    expect(requests(7)).toEqual([1, 2, 0, 0, 0, 0, 0]);
  });

  it('starts again after a clock that was days ahead is set right', async () => {
    const { clock, counters, requests } = openHistory(startMs + 7 * 86_400_000);

    counters.requests += 1;
    requests(1);
    const now = clock.now;
    (clock as { now: () => number }).now = () => now() - 7 * 86_400_000;
    requests(1);
    counters.requests += 2;

    expect(requests(2)).toEqual([0, 2]);
  });

  it('keeps its counts if the clock is set back by some minutes', async () => {
    const { clock, counters, requests } = openHistory();

    counters.requests += 1;
    requests(1);
    const now = clock.now;
    (clock as { now: () => number }).now = () => now() - 3 * minuteMs;
    counters.requests += 2;
    requests(1);
    (clock as { now: () => number }).now = now;

    expect(requests(2)).toEqual([0, 3]);
  });

  it('ends its timer when it is closed', () => {
    const { ticks, history } = openHistory();

    expect(ticks.size).toBe(1);
    history.close();

    expect(ticks.size).toBe(0);
  });

  it('records by itself with a real timer', async () => {
    const clock = createManualClock(startMs);
    const read = vi.fn(() => ({ requests: 0 }));
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const history = openMinuteHistory({ clock, read });

    const reads = [read.mock.calls.length];
    vi.advanceTimersByTime(1000);
    reads.push(read.mock.calls.length);
    await clock.advance(minuteMs);
    vi.advanceTimersByTime(1000);
    reads.push(read.mock.calls.length);
    history.close();
    await clock.advance(minuteMs);
    vi.advanceTimersByTime(1000);
    reads.push(read.mock.calls.length);

    expect(reads).toEqual([1, 1, 2, 2]);
  });
});
