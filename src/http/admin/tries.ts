import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';

/** Slows clients that try wrong tokens. */
export interface FailedTries {
  /**
   * Waits before a try is judged, if its address has earned it: a caller of that address has hung up on a
   * slowed reply, or is waiting for one. Who hangs up could otherwise tell a wrong token from the right one
   * by the missing reply, and lose no time.
   *
   * @returns what became of the try; one that has waited counts as failed already
   * @throws Problem `overloaded` where too many wait
   */
  holdBack(address: string, signal: AbortSignal): Promise<'passed' | 'waited' | 'left'>;
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
 * Maximum number of tries that wait at once. One that waits costs little more than the idle connection that
 * anybody may hold, so the bound is far from what a guesser gets to.
 */
const maxWaiting = 10_000;

/** What is remembered of the failed tries of an address. */
interface Tries {
  count: number;
  lastMs: number;
  waiting: number;
  hasLeft: boolean;
}

/** Creates a count of no tries. */
export function createFailedTries(clock: Clock): FailedTries {
  const { find, add } = createAddresses(clock);
  let waiting = 0;
  const wait = async (tries: Tries, signal: AbortSignal): Promise<'waited' | 'left'> => {
    waiting += 1;
    tries.waiting += 1;
    try {
      await clock.sleep(toDelay(tries.count), signal);
      return 'waited';
    } catch {
      // The caller has left: nobody reads the answer, so it may come now.
      tries.hasLeft = true;
      return 'left';
    } finally {
      waiting -= 1;
      tries.waiting -= 1;
    }
  };
  return {
    holdBack: async (address, signal) => {
      const tries = find(address);
      if (tries === undefined || (tries.waiting === 0 && !tries.hasLeft)) return 'passed';
      if (waiting >= maxWaiting) throw tooManyWait();
      return wait(add(address), signal);
    },
    slow: async (address, signal) => {
      const tries = add(address);
      if (toDelay(tries.count) === 0 || waiting >= maxWaiting) return;
      await wait(tries, signal);
    },
  };
}

function tooManyWait(): Problem {
  return new Problem('overloaded', {
    detail: 'Too many requests with wrong tokens are waiting for their replies.',
  });
}

/** Creates the memory of addresses that have tried of late. */
function createAddresses(clock: Clock) {
  /** In the order of the last try, oldest first. */
  const tried = new Map<string, Tries>();
  const forget = (most: number): void => {
    const now = clock.now();
    for (const [oldest, { lastMs }] of tried) {
      if (now - lastMs < forgetMs && tried.size <= most) break;
      tried.delete(oldest);
    }
  };
  const find = (address: string): Tries | undefined => {
    forget(maxAddresses);
    return tried.get(address);
  };
  return {
    find,
    /** Counts a try. */
    add: (address: string): Tries => {
      const tries = find(address) ?? { count: 0, lastMs: 0, waiting: 0, hasLeft: false };
      tries.count += 1;
      tries.lastMs = clock.now();
      tried.delete(address);
      forget(maxAddresses - 1);
      tried.set(address, tries);
      return tries;
    },
  };
}

function toDelay(count: number): number {
  if (count <= freeTries) return 0;
  return Math.min(maxDelayMs, firstDelayMs * 2 ** (count - freeTries - 1));
}
