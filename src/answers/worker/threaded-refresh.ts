import type { Clock } from '../../core/clock.ts';
import type { RefreshSummary } from '../index/keep-current.ts';
import type { RefreshProgress } from '../index/refresh.ts';
import { type RefreshTold, ThreadEndedError } from './messages.ts';
import type { ThreadClient } from './thread-client.ts';

/** What refreshing in a thread needs. */
export interface ThreadedRefreshOptions {
  readonly clock: Clock;
  /** Runs work with the thread that refreshes. */
  withThread<Result>(work: (thread: RefreshingThread) => Promise<Result>): Promise<Result>;
  onProgress(progress: RefreshProgress): void;
  /** Told of a file whose reader was the end of the thread. */
  onPassedOver(error: PassedOverError): void;
}

/** A thread that refreshes an index. */
export type RefreshingThread = Pick<ThreadClient, 'call' | 'kill'>;

/** What is heard of a refresh while it is under way. */
export interface RefreshLive {
  readonly signal: AbortSignal;
  onFolder(absolute: string): void;
}

/** A file that could not be read because its reader took all memory, or did not end. */
export class PassedOverError extends Error {}

/** A thread that tells nothing for this long is taken for lost. */
const silenceMs = 120_000;

/** The most files that one refresh may be lost over. */
const mostPassedOver = 20;

/**
 * Creates the refreshing of an index in a thread. A file that was being read when the thread ended is
 * kept without its text, and the refresh goes on with another thread.
 */
export function createThreadedRefresh(options: ThreadedRefreshOptions) {
  const { withThread, onPassedOver } = options;
  return async (live: RefreshLive): Promise<Omit<RefreshSummary, 'ms'>> => {
    const passOver = new Set<string>();
    for (;;) {
      const told = { reading: null as string | null, count: 0 };
      try {
        return await withThread((thread) =>
          refreshIn(thread, { ...options, live, passOver, told }),
        );
      } catch (error) {
        const lost = lostFile(error, told.reading);
        if (lost === null || passOver.has(lost) || passOver.size >= mostPassedOver) throw error;
        passOver.add(lost);
        onPassedOver(new PassedOverError(`${lost} cannot be read: its reader does not end well.`));
      }
    }
  };
}

/** The file that was being read when a thread ended. */
function lostFile(error: unknown, reading: string | null): string | null {
  return error instanceof ThreadEndedError ? reading : null;
}

interface Attempt extends ThreadedRefreshOptions {
  readonly live: RefreshLive;
  readonly passOver: ReadonlySet<string>;
  /** What was told last: it is looked at when the thread has ended. */
  readonly told: { reading: string | null; count: number };
}

async function refreshIn(thread: RefreshingThread, attempt: Attempt) {
  const { live, passOver, told, clock, onProgress } = attempt;
  const over = new AbortController();
  void killWhenSilent(thread, { clock, told, signal: over.signal });
  const onTold = (news: RefreshTold) => {
    told.count += 1;
    if (news.kind === 'folder') live.onFolder(news.absolute);
    else if (news.kind === 'reading') told.reading = news.absolute;
    else onProgress(news.progress);
  };
  try {
    const give = { passOver: [...passOver] };
    return await thread.call('refresh', give, { signal: live.signal, onTold });
  } finally {
    over.abort();
  }
}

interface Silence extends Pick<Attempt, 'clock' | 'told'> {
  readonly signal: AbortSignal;
}

async function killWhenSilent(thread: RefreshingThread, { clock, told, signal }: Silence) {
  try {
    for (let before = -1; told.count !== before; ) {
      before = told.count;
      await clock.sleep(silenceMs, signal);
    }
    thread.kill();
  } catch {
    // The refresh is over.
  }
}
