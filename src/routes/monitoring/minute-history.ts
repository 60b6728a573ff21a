import type { Clock } from '../../lib/clock.ts';

export const historyMinutes = 1440;

const minuteMs = 60_000;

export interface Period<Name extends string> {
  readonly startMs: number;
  readonly counts: Readonly<Record<Name, number>>;
}

interface MinuteHistoryOptions<Name extends string> {
  readonly clock: Pick<Clock, 'now'>;
  /** Calls `tick` every second until the returned function is called. Default: `setInterval`. */
  readonly everySecond?: (tick: () => void) => () => void;
  /** Returns the same counters each time; they never decrease. Called each minute and by `list`. */
  read(): Readonly<Record<Name, number>>;
}

/** Records the increase of each counter per minute for one day, without work per increase. */
export function openMinuteHistory<Name extends string>(options: MinuteHistoryOptions<Name>) {
  const { clock, read, everySecond = startInterval } = options;
  const rows = createRows();
  const initial = read();
  const names = Object.keys(initial) as Name[]; // the type has no other keys
  const currentMinute = () => Math.floor(clock.now() / minuteMs);
  let seen = initial;
  let minute = currentMinute();
  /** Adds the increase since the previous reading to the minute of that reading. */
  const record = (): void => {
    const counters = read();
    rows.add(
      minute,
      names.map((name) => counters[name] - seen[name]),
    );
    seen = counters;
    minute = currentMinute();
  };
  const close = everySecond(() => {
    if (currentMinute() !== minute) record();
  });
  return {
    /**
     * Returns the last `count` periods, oldest first, the last one with the current minute. Periods
     * start at multiples of `minutes` since the epoch. Minutes older than a day count as 0.
     */
    list: (count: number, minutes: number): readonly Period<Name>[] => {
      record();
      rows.advanceTo(minute);
      const last = Math.floor(minute / minutes);
      return Array.from({ length: count }, (_, at) => {
        const first = (last - count + 1 + at) * minutes;
        const counts = Object.fromEntries(
          names.map((name, column) => [name, rows.sum(first, minutes, column)]),
        );
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

function createRows() {
  const rows = new Map<number, readonly number[]>();
  let newest = 0;
  const advanceTo = (minute: number): void => {
    if (Math.abs(minute - newest) >= historyMinutes) {
      rows.clear();
      newest = minute;
    }
    newest = Math.max(newest, minute);
    for (const old of rows.keys()) if (old <= newest - historyMinutes) rows.delete(old);
  };
  return {
    advanceTo,
    /** Adds to a minute's row; to the newest row if the clock was set back by less than a day. */
    add: (minute: number, numbers: readonly number[]): void => {
      advanceTo(minute);
      const row = rows.get(newest) ?? [];
      rows.set(
        newest,
        numbers.map((number, column) => number + (row[column] ?? 0)),
      );
    },
    sum: (first: number, minutes: number, column: number): number =>
      Array.from({ length: minutes }, (_, at) => rows.get(first + at)?.[column] ?? 0).reduce(
        (sum, number) => sum + number,
      ),
  };
}
