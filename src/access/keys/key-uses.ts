import type { Clock } from '../../core/clock.ts';

const minuteMs = 60_000;

/** Creates a buffer of last uses. Writes at most once a minute, retries, and flushes on `close`. */
export function createKeyUses(
  clock: Clock,
  write: (times: ReadonlyMap<string, number>) => void | Promise<void>,
) {
  let unwritten = new Map<string, number>();
  const closing = new AbortController();
  const flush = async (): Promise<void> => {
    const times = unwritten;
    if (times.size === 0) return;
    unwritten = new Map();
    try {
      await write(times);
    } catch {
      unwritten = new Map([...times, ...unwritten]);
      flushLater();
    }
  };
  const flushLater = () => void clock.sleep(minuteMs, closing.signal).then(flush, () => {});
  return {
    note: (id: string): void => {
      if (unwritten.size === 0) flushLater();
      unwritten.set(id, Math.floor(clock.now() / minuteMs) * minuteMs);
    },
    close: (): Promise<void> => {
      closing.abort();
      return flush();
    },
  };
}
