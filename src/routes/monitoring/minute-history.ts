import type { Clock } from '../../lib/clock.ts';

export const historyMinutes = 1440;

const minuteMs = 60_000;

export interface Period<Name extends string> {
  readonly startMs: number;
  readonly counts: Readonly<Record<Name, number>>;
}

export interface MinuteHistory<Name extends string> {
  /**
   * Returns the last `count` periods, oldest first, the last one with the current minute. Periods
   * start at multiples of `minutes` since the epoch. Minutes older than a day count as 0.
   */
  list(count: number, minutes: number): readonly Period<Name>[];
  close(): void;
}

interface MinuteHistoryOptions<Name extends string> {
  readonly clock: Pick<Clock, 'now'>;
  /** Calls `tick` every second until the returned function is called. Default: `setInterval`. */
  readonly everySecond?: (tick: () => void) => () => void;
  readonly names: readonly Name[];
  /** Returns the counters, which must never decrease. Called each minute and by `list`. */
  read(): Readonly<Record<Name, number>>;
}

/** Records the increase of each counter per minute for one day, without work per increase. */
export function openMinuteHistory<Name extends string>(
  options: MinuteHistoryOptions<Name>,
): MinuteHistory<Name> {
  const { clock, names, read, everySecond = startInterval } = options;
  const ring = createRing(names.length);
  const readCounters = () => {
    const counters = read();
    return names.map((name) => counters[name]);
  };
  const currentMinute = () => Math.floor(clock.now() / minuteMs);
  let seen = readCounters();
  let minute = currentMinute();
  /** Adds the increase since the previous reading to the minute of that reading. */
  const record = (): void => {
    const counters = readCounters();
    ring.add(
      minute,
      counters.map((value, column) => value - (seen[column] ?? 0)),
    );
    seen = counters;
    minute = currentMinute();
  };
  const close = everySecond(() => {
    if (currentMinute() !== minute) record();
  });
  return {
    list: (count, minutes) => {
      record();
      ring.advanceTo(minute);
      const last = Math.floor(minute / minutes);
      return Array.from({ length: count }, (_, at) => {
        const first = (last - count + 1 + at) * minutes;
        const sums = ring.sum(first, minutes);
        const counts = Object.fromEntries(names.map((name, column) => [name, sums[column] ?? 0]));
        // The keys are the names of the counters.
        return { startMs: first * minuteMs, counts: counts as Record<Name, number> };
      });
    },
    close,
  };
}

function startInterval(tick: () => void): () => void {
  const timer = setInterval(tick, 1000);
  timer.unref();
  return () => clearInterval(timer);
}

function createRing(columns: number) {
  const cells = new Float64Array(historyMinutes * columns);
  let newest: number | null = null;
  const rowOf = (minute: number) =>
    (((minute % historyMinutes) + historyMinutes) % historyMinutes) * columns;
  const isKept = (minute: number) =>
    newest !== null && minute <= newest && minute > newest - historyMinutes;
  const advanceTo = (minute: number): void => {
    if (newest === null || Math.abs(minute - newest) >= historyMinutes) {
      cells.fill(0);
      newest = minute;
    }
    while (newest < minute) {
      newest += 1;
      cells.fill(0, rowOf(newest), rowOf(newest) + columns);
    }
  };
  return {
    advanceTo,
    /** Adds to a minute's row; to the newest row if the clock was set back by less than a day. */
    add: (minute: number, numbers: readonly number[]): void => {
      advanceTo(minute);
      const row = rowOf(newest ?? minute);
      for (const [column, number] of numbers.entries()) {
        cells[row + column] = (cells[row + column] ?? 0) + number;
      }
    },
    sum: (first: number, minutes: number): readonly number[] => {
      const kept = Array.from({ length: minutes }, (_, at) => first + at).filter(isKept);
      return Array.from({ length: columns }, (_, column) =>
        kept.reduce((sum, minute) => sum + (cells[rowOf(minute) + column] ?? 0), 0),
      );
    },
  };
}
