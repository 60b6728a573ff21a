import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import { type PagePlace, rowsOf } from './page-span.ts';
import { type AskedPage, readSteadily, type SteadyPage } from './steady-page.ts';

/** What pages are read with. */
export interface PageReaderOptions {
  /** Asks for one page. Throws Problem. */
  readonly ask: (place: PagePlace, signal: AbortSignal) => Promise<AskedPage>;
  readonly clock: Clock;
  /** When the pages are no good any more, in milliseconds since the epoch. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
}

/** Reads pages of a timeline, with as much patience as the upstream needs. */
export interface PageReader {
  /**
   * Gives a page as good as it can be read. A throttle is waited for by all pages together; another
   * failure of the upstream is tried again twice.
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

/** The pause where a throttling upstream names none (decisions section 5). */
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
    if (untilMs >= options.deadlineMs) throw problem;
    if (clock.now() >= pausedUntilMs) throttles += 1;
    pausedUntilMs = Math.max(pausedUntilMs, untilMs);
  };
  /** Bears a failure, as long as it can be borne. */
  const bear = async (error: unknown, failures: number): Promise<void> => {
    signal.throwIfAborted();
    if (isThrottle(error)) return pause(error);
    if (!isOutage(error) || failures >= triesAgain) throw error;
    await clock.sleep(firstWaitMs * 2 ** failures, signal);
  };
  const ask = async (place: PagePlace, failures = 0): Promise<AskedPage> => {
    await waitForPause();
    asked += 1;
    try {
      return await options.ask(place, signal);
    } catch (error) {
      await bear(error, failures);
      return ask(place, isThrottle(error) ? failures : failures + 1);
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

function isThrottle(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'upstream_rate_limited';
}

function isOutage(error: unknown): boolean {
  return (
    error instanceof Problem && ['upstream_unavailable', 'upstream_error'].includes(error.code)
  );
}
