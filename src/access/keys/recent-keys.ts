import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import type { KeyCheck } from './key-store.ts';

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

/** Milliseconds for which a key's last check result is reused while the key store fails. */
const knownMs = 30_000;
const maxKnown = 10_000;

type Verdict = Readonly<{ check: KeyCheck; atMs: number }>;

/** Creates separate caches for valid and invalid keys, so that invalid ones evict no valid ones. */
export function createVerdicts(clock: Clock) {
  // `max` would allocate for all entries at once.
  const create = () =>
    new LRUCache<string, Verdict>({ maxSize: maxKnown, sizeCalculation: () => 1 });
  const verdicts = { valid: create(), invalid: create() };
  return {
    note: (key: string, check: KeyCheck): void => {
      const isValid = check.status === 'valid';
      verdicts[isValid ? 'valid' : 'invalid'].set(key, { check, atMs: clock.now() });
      if (!isValid) verdicts.valid.delete(key);
    },
    recall: (key: string): KeyCheck | undefined => {
      const recent = verdicts.valid.get(key) ?? verdicts.invalid.get(key);
      if (recent === undefined || Math.abs(clock.now() - recent.atMs) > knownMs) return undefined;
      return recent.check;
    },
  };
}
