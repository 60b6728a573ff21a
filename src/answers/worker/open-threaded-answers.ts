import { toExtractiveEngine } from '../answer.ts';
import { openIndexRefresher } from '../index/index-refresher.ts';
import type { Answers, AnswersOptions } from '../open-answers.ts';
import { createRestartingThread, createThreadClient, startThread } from './thread-client.ts';
import { type RefreshingThread, refreshInThread } from './threaded-refresh.ts';

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
