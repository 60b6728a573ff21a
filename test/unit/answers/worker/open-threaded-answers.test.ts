import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openThreadedAnswers } from '../../../../src/answers/worker/open-threaded-answers.ts';
import {
  startThread,
  type Thread,
  ThreadEndedError,
} from '../../../../src/answers/worker/thread-client.ts';
import { systemClock } from '../../../../src/core/clock.ts';
import { corpusOf } from '../../../support/corpus-folder.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

/** Threads take some seconds to load TypeScript on a busy machine. */
const timeout = 120_000;

function openInRealThreads(path: string) {
  const threads: Thread[] = [];
  const trouble: unknown[] = [];
  const answers = openThreadedAnswers({
    corpora: [corpusOf({ 'a.md': '# Herons\n\nHerons fish alone.\n' })],
    path,
    clock: systemClock,
    onError: (error) => trouble.push(error),
    startThread: (options) => {
      const thread = startThread(options);
      threads.push(thread);
      return thread;
    },
  });
  onTestFinished(() => answers.close());
  const ask = (signal = new AbortController().signal) =>
    answers.engine.answer({ text: 'herons', earlier: [] }, { signal, onText: () => {} });
  return { answers, threads, trouble, ask };
}

it('indexes in one thread and answers in another, even after the latter has crashed', {
  timeout,
}, async () => {
  const { answers, threads, trouble, ask } = openInRealThreads(
    join(temporaryFolder(), 'answers.db'),
  );
  await answers.refresh();
  expect(threads).toHaveLength(2);
  expect((await ask()).citations[0]).toMatchObject({ path: 'a.md', heading: 'Herons' });

  const asked = ask().catch((error: unknown) => error);
  await threads[0]?.terminate();

  expect(await asked).toBeInstanceOf(ThreadEndedError);
  expect(trouble).toEqual([expect.any(ThreadEndedError)]);
  expect((await ask()).abstained).toBe(false);
  expect(answers.engine.isReady).toBe(true);
  expect(threads).toHaveLength(3);
});

it('rebuilds an index in memory after its thread has crashed', { timeout }, async () => {
  const { answers, threads, ask } = openInRealThreads(':memory:');
  await answers.refresh();
  expect((await ask()).abstained).toBe(false);

  await threads[0]?.terminate();
  await expect.poll(() => answers.engine.isReady).toBe(false);
  await answers.refresh();

  expect((await ask()).abstained).toBe(false);
  expect(answers.engine.isReady).toBe(true);
  expect(threads).toHaveLength(2);
});
