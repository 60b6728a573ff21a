import type { Clock } from '../../lib/clock.ts';
import { errorCodeOf } from '../../lib/files/sqlite.ts';
import { Problem } from '../../lib/problem.ts';
import { describeEngineError, EngineError } from '../../lib/redis/engine-error.ts';
import { createRepeatedLines } from '../../lib/repeated-lines.ts';
import type { SessionStore } from './session-store.ts';

export type StoreFaults = ReturnType<typeof createStoreFaults>;

/** Callbacks of the store: `failed` with the cause, `worked` after a successful write. */
export type StoreWatch = Pick<StoreFaults, 'failed' | 'worked'>;

/** Error for a database file that was deleted or replaced while it was open. */
export class LostFileError extends Error {}

/**
 * Creates the record of failures, which calls `onFault` with an error message at most once a
 * minute, and `onRecovered` when the store works again after that.
 */
export function createStoreFaults({
  clock,
  onFault,
  onRecovered,
}: Readonly<{ clock: Clock; onFault: (reason: string) => void; onRecovered: () => void }>) {
  let fault: string | null = null;
  let isReported = false;
  const writeLine = createRepeatedLines(clock);
  return {
    /** Sentence for operators, without paths and addresses; `null` while the store works. */
    get fault(): string | null {
      return fault;
    },
    failed: (cause: unknown): void => {
      fault = describeStoreFault(cause);
      writeLine('session store', () => {
        isReported = true;
        onFault(cause instanceof Error ? cause.message : String(cause));
      });
    },
    worked: (): void => {
      fault = null;
      if (!isReported) return;
      isReported = false;
      onRecovered();
    },
  };
}

const sentences: readonly (readonly [pattern: RegExp, sentence: string])[] = [
  [/^SQLITE_FULL/, 'The disk is full.'],
  [/^SQLITE_READONLY/, 'The database file or its disk is read-only.'],
  [/^SQLITE_(?:BUSY|LOCKED)/, 'Another process has locked the database file.'],
  [/^SQLITE_(?:CORRUPT|NOTADB)/, 'The database file is damaged.'],
];

function describeStoreFault(cause: unknown): string {
  if (cause instanceof EngineError) return describeEngineError(cause);
  if (cause instanceof LostFileError) return 'The database file was deleted or replaced.';
  const code = errorCodeOf(cause) ?? '';
  const [, sentence] = sentences.find(([pattern]) => pattern.test(code)) ?? [];
  return sentence ?? 'The database file cannot be read or written.';
}

/** Converts an SQLite error to the Problem `not_ready`. Returns any other error unchanged. */
export const toStoreProblem = (cause: unknown, watch?: StoreWatch): unknown =>
  errorCodeOf(cause)?.startsWith('SQLITE_') ? toUnavailable(cause, watch) : cause;

/** Notes a failure. The error for callers has no text of the engine, which can contain addresses. */
export function toUnavailable(cause: unknown, watch?: StoreWatch): Problem {
  watch?.failed(cause);
  return new Problem('not_ready', { detail: 'The session store is unavailable.', cause });
}

type StoreHealthOptions = Readonly<{ store: SessionStore; faults: StoreFaults; clock: Clock }>;

/** Milliseconds for which a request for the health gets the result of the last probe. */
const sharedMs = 1000;
/** Interval in milliseconds at which a store that does not work is probed. */
const intervalMs = 10_000;
/** Interval in milliseconds while the store works, because each probe writes to the disk. */
const healthyIntervalMs = 60_000;

/** Starts to probe writes to the store regularly. Call `stop` when the server closes. */
export function openStoreHealth({ store, faults, clock }: StoreHealthOptions) {
  const stopped = new AbortController();
  let probedMs = clock.now();
  let last: Promise<void> | undefined;
  const probe = (): Promise<void> => {
    probedMs = clock.now();
    last = store.probe();
    return last;
  };
  const watch = async (): Promise<void> => {
    for (;;) {
      await Promise.allSettled([clock.sleep(intervalMs, stopped.signal)]);
      if (stopped.signal.aborted) return;
      const isDue = faults.fault !== null || clock.now() - probedMs >= healthyIntervalMs;
      if (isDue) await probe().catch(() => {}); // the store has reported the failure to `faults`
    }
  };
  void watch();
  return {
    /** Sentence that explains why the store cannot be used; `null` if it worked at its last use. */
    get fault() {
      return faults.fault;
    },
    /** Checks that the store can be read and written now. @throws Problem `not_ready` otherwise */
    check: async (): Promise<void> => {
      const isRecent = Math.abs(clock.now() - probedMs) < sharedMs;
      await Promise.all([isRecent && last ? last : probe(), store.countLive()]);
    },
    stop: () => stopped.abort(),
  };
}
