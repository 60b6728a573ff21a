import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  openThreadedAnswers,
  type RefreshingThread,
  refreshInThread,
} from '../../../../src/answers/worker/open-threaded-answers.ts';
import {
  type CallOptions,
  type RefreshReport,
  startThread,
  type Thread,
  ThreadEndedError,
} from '../../../../src/answers/worker/thread-client.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { corpusOf } from '../../../support/corpus-folder.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
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

/** Returns the nice values of this process's threads: field 19 of proc(5), `stat`. */
function threadPriorities(): readonly number[] {
  const tasks = '/proc/self/task';
  const stats = readdirSync(tasks).map((id) => readFileSync(`${tasks}/${id}/stat`, 'utf8'));
  return stats.map((stat) => Number(stat.split(') ')[1]?.split(' ')[16]));
}

it.runIf(process.platform === 'linux')(
  'answers with less priority than the thread of requests',
  {
    timeout,
  },
  async () => {
    const { answers, ask } = openInRealThreads(join(temporaryFolder(), 'answers.db'));
    await answers.refresh();
    expect((await ask()).abstained).toBe(false);

    const lower = Math.min(getPriority() + 3, constants.priority.PRIORITY_LOW);
    expect(threadPriorities()).toContain(lower);
    expect(threadPriorities()).toContain(getPriority());
  },
);

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

const done = { files: 3, read: 3, removed: 0, skipped: {}, passages: 9 };

type Attempt = (
  skip: readonly string[],
  report: (report: RefreshReport) => void,
) => Promise<typeof done>;

/** A refresh whose threads behave as `attempt` defines. */
function createRig(attempt: Attempt) {
  const clock = createManualClock();
  const attempts: (readonly string[])[] = [];
  const skipped: string[] = [];
  let kill = () => {};
  const killed = new Promise<never>((_, reject) => {
    kill = () => reject(new ThreadEndedError(null));
  });
  killed.catch(() => {
    // Not every test kills the thread.
  });
  const call = (
    _: 'refresh',
    { skip }: { readonly skip: readonly string[] },
    { onReport = () => {} }: CallOptions<'refresh'> = {},
  ) => {
    attempts.push(skip);
    return Promise.race([attempt(skip, onReport), killed]);
  };
  const options: Parameters<typeof refreshInThread>[0] = {
    clock,
    // A refresh calls no other task.
    withThread: (work) => work({ call: call as RefreshingThread['call'], kill: () => kill() }),
    onProgress: () => {},
    onSkipped: ({ message }) => skipped.push(message),
  };
  const hooks = { signal: new AbortController().signal, onFolder: () => {} };
  return { clock, attempts, skipped, refresh: () => refreshInThread(options, hooks) };
}

const end = () => Promise.reject(new ThreadEndedError('ERR_WORKER_OUT_OF_MEMORY'));

it('skips the files that crash their thread, and continues', async () => {
  const poison = ['/docs/a.html', '/docs/b.html'];
  const { refresh, attempts, skipped } = createRig(async (skip, report) => {
    const next = poison.find((path) => !skip.includes(path));
    if (next === undefined) return done;
    report({ kind: 'reading', absolute: next });
    return end();
  });

  expect(await refresh()).toEqual(done);
  expect(attempts).toEqual([[], ['/docs/a.html'], poison]);
  expect(skipped[0]).toContain('/docs/a.html was skipped');
});

it('fails if a thread ends while it reads no file', async () => {
  const { refresh, attempts } = createRig(end);

  await expect(refresh()).rejects.toThrow(ThreadEndedError);
  expect(attempts).toHaveLength(1);
});

it('fails if skipping the file does not help', async () => {
  const { refresh, attempts } = createRig(async (_, report) => {
    report({ kind: 'reading', absolute: '/docs/a.html' });
    return end();
  });

  await expect(refresh()).rejects.toThrow(ThreadEndedError);
  expect(attempts).toHaveLength(2);
});

it('gives up after a number of such files', async () => {
  const { refresh, attempts } = createRig(async (skip, report) => {
    report({ kind: 'reading', absolute: `/docs/${skip.length}.html` });
    return end();
  });

  await expect(refresh()).rejects.toThrow(ThreadEndedError);
  expect(attempts).toHaveLength(21);
});

it('terminates a thread that reports nothing for long, but not one that does', async () => {
  let isOver = false;
  let tellAgain = () => {};
  const { refresh, clock } = createRig((_, report) => {
    tellAgain = () => report({ kind: 'progress', progress: done });
    return new Promise(() => {});
  });
  const refreshed = refresh().catch((error: unknown) => {
    isOver = true;
    return error;
  });

  tellAgain();
  await clock.advance(120_000);
  tellAgain();
  await clock.advance(120_000);
  expect(isOver).toBe(false);
  await clock.advance(120_000);

  expect(await refreshed).toBeInstanceOf(ThreadEndedError);
});
