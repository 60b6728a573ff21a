import { expect, it } from 'vitest';
import {
  type RefreshingThread,
  refreshInThread,
} from '../../../../src/answers/worker/open-threaded-answers.ts';
import type { CallOptions } from '../../../../src/answers/worker/thread-client.ts';
import {
  type RefreshReport,
  ThreadEndedError,
} from '../../../../src/answers/worker/thread-client.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

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
