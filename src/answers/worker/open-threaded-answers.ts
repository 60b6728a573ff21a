import { toExtractiveEngine } from '../answer.ts';
import { openKeeping } from '../index/keep-current.ts';
import type { Answers, AnswersOptions } from '../open-answers.ts';
import { createLastingThread, createThreadClient, startThread } from './thread-client.ts';
import { type RefreshingThread, refreshInThread } from './threaded-refresh.ts';

interface ThreadedAnswersOptions extends AnswersOptions {
  /** Default: a worker thread. */
  readonly startThread?: typeof startThread;
}

/** A server that has just begun to listen answers its first requests before threads take the cores. */
const firstAfterMs = 250;

/**
 * Prepares answers that are searched for in one thread and indexed in another; this one stays free.
 * Nothing is started or opened yet: that begins with the first refresh, `keepCurrent` or question.
 * An index in memory belongs to one thread, which does both.
 */
export function openThreadedAnswers(options: ThreadedAnswersOptions): Answers {
  const { corpora, path, clock, onProgress = () => {}, onTrouble = () => {} } = options;
  const start = options.startThread ?? startThread;
  const setting = { corpora, path };
  const isShared = path !== ':memory:';
  let isBuilt = false;
  const answering = createLastingThread({
    setting,
    startThread: start,
    clock,
    onLost: (error) => {
      onTrouble(error);
      if (isShared) return;
      isBuilt = false;
      keeping.upset();
    },
  });
  const withOwnThread = async <Result>(work: (thread: RefreshingThread) => Promise<Result>) => {
    const thread = createThreadClient(start(setting), clock);
    try {
      return await work(thread);
    } finally {
      await thread.close();
    }
  };
  const withAnswering: typeof withOwnThread = (work) => work(answering);
  const withThread = isShared ? withOwnThread : withAnswering;
  const keeping = openKeeping({
    ...options,
    firstAfterMs,
    refreshNow: async (live) => {
      // The index is opened here first: a file that cannot be used is replaced, and by one thread only.
      if (await answering.call('open', null)) isBuilt = true;
      const refreshing = { clock, withThread, onProgress, onPassedOver: onTrouble };
      const done = await refreshInThread(refreshing, live);
      isBuilt = true;
      return done;
    },
  });
  return {
    engine: toExtractiveEngine(
      (question, { signal, onText: onTold }) =>
        answering.call('answer', question, { signal, onTold }),
      () => isBuilt,
    ),
    passages: {
      find: (question) => answering.call('find', question),
      isCurrent: (passage) => answering.call('isCurrent', passage),
    },
    ...keeping,
    close: async () => {
      await keeping.close();
      await answering.close();
    },
  };
}
