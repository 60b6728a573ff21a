import type { Clock } from '../../lib/clock.ts';
import { toExtractiveEngine } from '../answer.ts';
import { openIndexRefresher, type RefreshHooks } from '../index/index-refresher.ts';
import type { RefreshProgress } from '../index/refresh.ts';
import type { Answers, AnswersOptions } from '../open-answers.ts';
import {
  createRestartingThread,
  createThreadClient,
  type RefreshReport,
  startThread,
  type ThreadClient,
  ThreadEndedError,
} from './thread-client.ts';

interface ThreadedAnswersOptions extends AnswersOptions {
  /** Function that starts a thread. Default: starts a Node.js worker thread. */
  readonly startThread?: typeof startThread;
}

/** Delay before the first update, so that it does not slow down the first requests. */
const firstAfterMs = 250;

/** Creates an engine with one thread to search and one to update; in memory, one for both. */
export function openThreadedAnswers(options: ThreadedAnswersOptions): Answers {
  const { corpora, path, clock, onProgress = () => {}, onError = () => {} } = options;
  const start = options.startThread ?? startThread;
  const threadOptions = { corpora, path };
  const isShared = path !== ':memory:';
  let isBuilt = false;
  const answering = createRestartingThread({
    threadOptions,
    startThread: start,
    clock,
    onLost: (error) => {
      onError(error);
      if (isShared) return;
      isBuilt = false;
      refresher.requestRefresh();
    },
  });
  const withOwnThread = async <Result>(work: (thread: RefreshingThread) => Promise<Result>) => {
    const thread = createThreadClient(start(threadOptions), clock);
    try {
      return await work(thread);
    } finally {
      await thread.close();
    }
  };
  const withAnswering: typeof withOwnThread = (work) => work(answering);
  const withThread = isShared ? withOwnThread : withAnswering;
  const refresher = openIndexRefresher({
    ...options,
    firstAfterMs,
    refreshNow: async (hooks) => {
      // The answering thread opens the index first, so that only one thread replaces an unusable
      // file.
      if (await answering.call('open', null)) isBuilt = true;
      const refreshing = { clock, withThread, onProgress, onSkipped: onError };
      const done = await refreshInThread(refreshing, hooks);
      isBuilt = true;
      return done;
    },
  });
  return {
    engine: toExtractiveEngine(
      (question, { signal, onText: onReport }) =>
        answering.call('answer', question, { signal, onReport }),
      () => isBuilt,
    ),
    passages: {
      find: (question) => answering.call('find', question),
      isCurrent: (passage) => answering.call('isCurrent', passage),
    },
    ...refresher,
    close: async () => {
      await refresher.close();
      await answering.close();
    },
  };
}

export type RefreshingThread = Pick<ThreadClient, 'call' | 'kill'>;

interface ThreadedRefreshOptions {
  readonly clock: Clock;
  withThread<Result>(work: (thread: RefreshingThread) => Promise<Result>): Promise<Result>;
  onProgress(progress: RefreshProgress): void;
  /** Called with the error for each file that was skipped because reading it crashed a thread. */
  onSkipped(error: SkippedFileError): void;
}

class SkippedFileError extends Error {}

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
