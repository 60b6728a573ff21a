import type { Clock } from '../../core/clock.ts';
import type { RefreshHooks } from '../index/index-refresher.ts';
import type { RefreshProgress } from '../index/refresh.ts';
import { type RefreshReport, ThreadEndedError } from './messages.ts';
import type { ThreadClient } from './thread-client.ts';

export type RefreshingThread = Pick<ThreadClient, 'call' | 'kill'>;

interface ThreadedRefreshOptions {
  readonly clock: Clock;
  withThread<Result>(work: (thread: RefreshingThread) => Promise<Result>): Promise<Result>;
  onProgress(progress: RefreshProgress): void;
  /** Called with the error for each file that was skipped because reading it crashed a thread. */
  onSkipped(error: SkippedFileError): void;
}

/** Error for a skipped file: its parser ran out of memory or did not finish. */
export class SkippedFileError extends Error {}

/** Timeout for the next report of a thread, which is then terminated. */
const silenceMs = 120_000;
/** Maximum number of files that crash a thread and are skipped before an update fails. */
const maxSkipped = 20;

/** Updates an index in a thread. If a file crashes it, retries without the text of that file. */
export async function refreshInThread(options: ThreadedRefreshOptions, hooks: RefreshHooks) {
  const skip = new Set<string>();
  for (;;) {
    const reported = { reading: null as string | null, count: 0 };
    const attempt = { ...options, hooks, skip, reported };
    try {
      return await options.withThread((thread) => refreshIn(thread, attempt));
    } catch (error) {
      const crashed = error instanceof ThreadEndedError ? reported.reading : null;
      if (crashed === null || skip.has(crashed) || skip.size >= maxSkipped) throw error;
      skip.add(crashed);
      const message = `${crashed} was skipped because reading it ran out of memory or did not finish.`;
      options.onSkipped(new SkippedFileError(message));
    }
  }
}

interface Attempt extends Pick<ThreadedRefreshOptions, 'clock' | 'onProgress'> {
  readonly hooks: RefreshHooks;
  readonly skip: ReadonlySet<string>;
  /** Reports of the thread. `reading`: file that is being read; `null` before the first. */
  readonly reported: { reading: string | null; count: number };
}

async function refreshIn(thread: RefreshingThread, attempt: Attempt) {
  const { hooks, skip, reported, clock, onProgress } = attempt;
  const onReport = (report: RefreshReport) => {
    reported.count += 1;
    if (report.kind === 'progress') onProgress(report.progress);
    else if (report.kind === 'folder') hooks.onFolder(report.absolute);
    else reported.reading = report.absolute;
  };
  const over = new AbortController();
  const killWhenSilent = async () => {
    for (let before = -1; reported.count !== before; ) {
      before = reported.count;
      await Promise.allSettled([clock.sleep(silenceMs, over.signal)]);
      if (over.signal.aborted) return;
    }
    thread.kill();
  };
  void killWhenSilent();
  try {
    const { signal } = hooks;
    return await thread.call('refresh', { skip: [...skip] }, { signal, onReport });
  } finally {
    over.abort();
  }
}
