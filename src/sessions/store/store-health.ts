import type { Clock } from '../../core/clock.ts';
import type { SessionStore } from './session-store.ts';
import type { StoreFaults } from './store-faults.ts';

interface StoreHealthOptions {
  readonly store: Pick<SessionStore, 'probe' | 'countLive'>;
  readonly faults: StoreFaults;
  readonly clock: Clock;
}

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
