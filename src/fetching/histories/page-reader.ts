import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import { type PagePlace, rowsOf } from './page-span.ts';
import { type AskedPage, readSteadily, type SteadyPage } from './steady-page.ts';

/** What pages are read with. */
export interface PageReaderOptions {
  /** Asks for one page. Throws Problem. */
  readonly ask: (place: PagePlace, signal: AbortSignal) => Promise<AskedPage>;
  readonly clock: Clock;
  /** Returns the time after which pages are of no use, in milliseconds since the epoch. */
  readonly deadlineMs: () => number;
  readonly signal: AbortSignal;
}

/** Reads pages of a timeline, with as much patience as the upstream needs. */
export interface PageReader {
  /**
   * Returns a page as complete as it can be read. All pages wait together while the upstream throttles
   * or the pool is used up; after any other failure of the upstream a page is asked for twice more.
   *
   * @throws Problem, see ProviderChain.ask
   */
  read(place: PagePlace, onDoubt?: (first: AskedPage) => void): Promise<SteadyPage>;
  /** How many pages were asked for, those asked for again included. */
  readonly asked: number;
  /** How often the upstream has throttled. */
  readonly throttles: number;
}

/** How often a page is tried again when the upstream fails, and how long after the first failure. */
const triesAgain = 2;
const firstWaitMs = 300;

/** The pause where a throttling upstream names none. */
const defaultPauseSeconds = 30;

/** Half of what a page has at least, before others were read (FxTwitter, section 6: 20 to 40 rows). */
const fewestRows = 10;

/** Creates a reader of pages that has read none. */
export function createPageReader(options: PageReaderOptions): PageReader {
  const { clock, signal } = options;
  let asked = 0;
  let throttles = 0;
  let pausedUntilMs = 0;
  let pages = 0;
  let rows = 0;
  /** Half of what the pages of this timeline have. */
  const leastRows = () => Math.max(fewestRows, pages === 0 ? 0 : rows / pages / 2);
  const waitForPause = async () => {
    for (let ms = pausedUntilMs - clock.now(); ms > 0; ms = pausedUntilMs - clock.now()) {
      await clock.sleep(ms, signal);
    }
  };
  const pause = (problem: Problem): void => {
    const untilMs = clock.now() + (problem.retryAfterSeconds ?? defaultPauseSeconds) * 1000;
    if (untilMs >= options.deadlineMs()) throw problem;
    if (problem.code === throttled && clock.now() >= pausedUntilMs) throttles += 1;
    pausedUntilMs = Math.max(pausedUntilMs, untilMs);
  };
  /** Waits after a failure, or throws it if there is no point in asking again. */
  const recover = async (error: unknown, failures: number): Promise<void> => {
    signal.throwIfAborted();
    if (isRateLimit(error)) return pause(error);
    if (!isOutage(error) || failures >= triesAgain) throw error;
    await clock.sleep(firstWaitMs * 2 ** failures, signal);
  };
  const ask = async (place: PagePlace, failures = 0): Promise<AskedPage> => {
    await waitForPause();
    asked += 1;
    try {
      return await options.ask(place, signal);
    } catch (error) {
      await recover(error, failures);
      return ask(place, isRateLimit(error) ? failures : failures + 1);
    }
  };
  return {
    read: async (place, onDoubt) => {
      const steady = await readSteadily(() => ask(place), place, { leastRows, onDoubt });
      pages += 1;
      rows += rowsOf(steady.page);
      return steady;
    },
    get asked() {
      return asked;
    },
    get throttles() {
      return throttles;
    },
  };
}

const throttled = 'upstream_rate_limited';

function isRateLimit(error: unknown): error is Problem {
  return error instanceof Problem && (error.code === throttled || error.code === 'rate_limited');
}

function isOutage(error: unknown): boolean {
  return (
    error instanceof Problem && ['upstream_unavailable', 'upstream_error'].includes(error.code)
  );
}
