import type { Clock } from '../../core/clock.ts';
import type { RefreshLive } from '../index/keep-current.ts';
import type { RefreshProgress } from '../index/refresh.ts';
import { type RefreshTold, ThreadEndedError } from './messages.ts';
import type { ThreadClient } from './thread-client.ts';

/** A thread that refreshes an index. */
export type RefreshingThread = Pick<ThreadClient, 'call' | 'kill'>;

interface ThreadedRefreshOptions {
  readonly clock: Clock;
  withThread<Result>(work: (thread: RefreshingThread) => Promise<Result>): Promise<Result>;
  onProgress(progress: RefreshProgress): void;
  /** Called with each file that ended its thread. */
  onPassedOver(error: PassedOverError): void;
}

/** A file that could not be read because its reader took all memory, or did not end. */
export class PassedOverError extends Error {}

/** A thread that reports nothing for this long is ended. */
const silenceMs = 120_000;
/** Maximum number of files that one refresh passes over. */
const mostPassedOver = 20;

/** Refreshes an index in a thread, and goes on in another one, without the text of a file that ended the first. */
export async function refreshInThread(options: ThreadedRefreshOptions, live: RefreshLive) {
  const passOver = new Set<string>();
  for (;;) {
    const told = { reading: null as string | null, count: 0 };
    const attempt = { ...options, live, passOver, told };
    try {
      return await options.withThread((thread) => refreshIn(thread, attempt));
    } catch (error) {
      const lost = error instanceof ThreadEndedError ? told.reading : null;
      if (lost === null || passOver.has(lost) || passOver.size >= mostPassedOver) throw error;
      passOver.add(lost);
      const message = `${lost} cannot be read: its reader does not end well.`;
      options.onPassedOver(new PassedOverError(message));
    }
  }
}

interface Attempt extends Pick<ThreadedRefreshOptions, 'clock' | 'onProgress'> {
  readonly live: RefreshLive;
  readonly passOver: ReadonlySet<string>;
  /** The file that the thread reads, and the number of its reports. */
  readonly told: { reading: string | null; count: number };
}

async function refreshIn(thread: RefreshingThread, attempt: Attempt) {
  const { live, passOver, told, clock, onProgress } = attempt;
  const onTold = (news: RefreshTold) => {
    told.count += 1;
    if (news.kind === 'progress') onProgress(news.progress);
    else if (news.kind === 'folder') live.onFolder(news.absolute);
    else told.reading = news.absolute;
  };
  const over = new AbortController();
  const killWhenSilent = async () => {
    for (let before = -1; told.count !== before; ) {
      before = told.count;
      await Promise.allSettled([clock.sleep(silenceMs, over.signal)]);
      if (over.signal.aborted) return;
    }
    thread.kill();
  };
  void killWhenSilent();
  try {
    const { signal } = live;
    return await thread.call('refresh', { passOver: [...passOver] }, { signal, onTold });
  } finally {
    over.abort();
  }
}
