import type { Clock } from '../core/clock.ts';

/** Slows those who try tokens that are wrong. */
export interface FailedTries {
  /**
   * Counts a failed try from a client address, and resolves when it may be answered: the more tries,
   * the later. Tries that still wait count. A caller who leaves waits no longer.
   */
  slow(address: string, signal: AbortSignal): Promise<void>;
}

/** Tries that are answered at once, so that a mistyped token costs nothing. */
const freeTries = 3;
const firstDelayMs = 250;
const maxDelayMs = 4000;
/** An address is forgotten after a minute without a try. */
const forgetMs = 60_000;

/** The most addresses that are remembered; beyond, the one with the oldest try is forgotten. */
const maxAddresses = 10_000;

/**
 * The most tries that wait at once; more are answered at once. A try that waits costs little more than
 * the idle connection that anybody may hold, so the bound is far from what a guesser gets to.
 */
const maxWaiting = 10_000;

interface Tries {
  readonly count: number;
  readonly lastMs: number;
}

/** Creates a count of no tries. */
export function createFailedTries(clock: Clock): FailedTries {
  const countTry = createTryCount(clock);
  let waiting = 0;
  return {
    slow: async (address, signal) => {
      const delayMs = toDelay(countTry(address));
      if (delayMs === 0 || waiting >= maxWaiting) return;
      waiting += 1;
      try {
        await clock.sleep(delayMs, signal);
      } catch {
        // The caller has left: nobody reads the answer, so it may come now.
      } finally {
        waiting -= 1;
      }
    },
  };
}

/** Makes a function that counts a try from an address and gives how many there were of late. */
function createTryCount(clock: Clock): (address: string) => number {
  /** In the order of the last try, oldest first. */
  const tried = new Map<string, Tries>();
  return (address) => {
    const now = clock.now();
    for (const [oldest, { lastMs }] of tried) {
      if (now - lastMs < forgetMs && tried.size < maxAddresses) break;
      tried.delete(oldest);
    }
    const count = (tried.get(address)?.count ?? 0) + 1;
    tried.delete(address);
    tried.set(address, { count, lastMs: now });
    return count;
  };
}

function toDelay(count: number): number {
  if (count <= freeTries) return 0;
  return Math.min(maxDelayMs, firstDelayMs * 2 ** (count - freeTries - 1));
}
