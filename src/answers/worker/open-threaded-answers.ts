import { toExtractiveEngine } from '../answer.ts';
import { openKeeping } from '../index/keep-current.ts';
import type { Answers, AnswersOptions } from '../open-answers.ts';
import { createLastingThread } from './lasting-thread.ts';
import { type StartThread, startThread } from './start-thread.ts';
import { createThreadClient } from './thread-client.ts';
import { createThreadedRefresh, type ThreadedRefreshOptions } from './threaded-refresh.ts';

/** What answers are made from, and in. */
export interface ThreadedAnswersOptions extends AnswersOptions {
  /** Default: a worker thread. */
  readonly startThread?: StartThread;
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
  const withOwnThread: ThreadedRefreshOptions['withThread'] = async (work) => {
    const thread = createThreadClient(start(setting), clock);
    try {
      return await work(thread);
    } finally {
      await thread.close();
    }
  };
  const refreshInThread = createThreadedRefresh({
    clock,
    withThread: isShared ? withOwnThread : (work) => work(answering),
    onProgress,
    onPassedOver: onTrouble,
  });
  const keeping = openKeeping({
    ...options,
    firstAfterMs,
    refreshNow: async (live) => {
      // The index is opened here first: what cannot be used is made anew, and by one thread only.
      if (await answering.call('open', null)) isBuilt = true;
      const done = await refreshInThread(live);
      isBuilt = true;
      return done;
    },
  });
  return {
    engine: toExtractiveEngine(
      (question, { signal, onText }) =>
        answering.call('answer', question, { signal, onTold: onText }),
      () => isBuilt,
    ),
    passages: {
      find: (question) => answering.call('find', question),
      isCurrent: (passage) => answering.call('isCurrent', passage),
    },
    refresh: keeping.refresh,
    keepCurrent: keeping.keepCurrent,
    close: async () => {
      await keeping.close();
      await answering.close();
    },
  };
}
