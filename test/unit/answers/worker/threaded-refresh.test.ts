import { expect, it } from 'vitest';
import { type RefreshReport, ThreadEndedError } from '../../../../src/answers/worker/messages.ts';
import type { CallOptions } from '../../../../src/answers/worker/thread-client.ts';
import {
  type RefreshingThread,
  refreshInThread,
} from '../../../../src/answers/worker/threaded-refresh.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const done = { files: 3, read: 3, removed: 0, passages: 9 };

type Attempt = (
  skip: readonly string[],
  report: (report: RefreshReport) => void,
) => Promise<typeof done>;

/** A refresh whose threads go as `attempt` says. */
function createRig(attempt: Attempt) {
  const clock = createManualClock();
  const attempts: (readonly string[])[] = [];
  const skipped: string[] = [];
  let kill = () => {};
  const killed = new Promise<never>((_, reject) => {
    kill = () => reject(new ThreadEndedError(null));
  });
  killed.catch(() => {
    // Not every test kills.
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
    // A refresh asks its thread for nothing else.
    withThread: (work) => work({ call: call as RefreshingThread['call'], kill: () => kill() }),
    onProgress: () => {},
    onSkipped: ({ message }) => skipped.push(message),
  };
  const hooks = { signal: new AbortController().signal, onFolder: () => {} };
  return { clock, attempts, skipped, refresh: () => refreshInThread(options, hooks) };
}

const end = () => Promise.reject(new ThreadEndedError('ERR_WORKER_OUT_OF_MEMORY'));

it('passes over the files that end their thread, and goes on', async () => {
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

it('fails where a thread ends and no file is to blame', async () => {
  const { refresh, attempts } = createRig(end);

  await expect(refresh()).rejects.toThrow(ThreadEndedError);
  expect(attempts).toHaveLength(1);
});

it('fails where passing over does not help', async () => {
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

it('ends a thread that is silent for long, and none that tells something', async () => {
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
