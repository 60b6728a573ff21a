import { expect, it } from 'vitest';
import { type RefreshTold, ThreadEndedError } from '../../../../src/answers/worker/messages.ts';
import type { Calling } from '../../../../src/answers/worker/thread-client.ts';
import {
  type RefreshingThread,
  refreshInThread,
} from '../../../../src/answers/worker/threaded-refresh.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const done = { files: 3, read: 3, removed: 0, passages: 9 };

type Attempt = (
  passOver: readonly string[],
  tell: (told: RefreshTold) => void,
) => Promise<typeof done>;

/** A refresh whose threads go as `attempt` says. */
function createRig(attempt: Attempt) {
  const clock = createManualClock();
  const attempts: (readonly string[])[] = [];
  const passedOver: string[] = [];
  let kill = () => {};
  const killed = new Promise<never>((_, reject) => {
    kill = () => reject(new ThreadEndedError(null));
  });
  killed.catch(() => {
    // Not every test kills.
  });
  const call = (
    _: 'refresh',
    { passOver }: { readonly passOver: readonly string[] },
    { onTold = () => {} }: Calling<'refresh'> = {},
  ) => {
    attempts.push(passOver);
    return Promise.race([attempt(passOver, onTold), killed]);
  };
  const options: Parameters<typeof refreshInThread>[0] = {
    clock,
    // A refresh asks its thread for nothing else.
    withThread: (work) => work({ call: call as RefreshingThread['call'], kill: () => kill() }),
    onProgress: () => {},
    onPassedOver: ({ message }) => passedOver.push(message),
  };
  const live = { signal: new AbortController().signal, onFolder: () => {} };
  return { clock, attempts, passedOver, refresh: () => refreshInThread(options, live) };
}

const end = () => Promise.reject(new ThreadEndedError('ERR_WORKER_OUT_OF_MEMORY'));

it('passes over the files that end their thread, and goes on', async () => {
  const poison = ['/docs/a.html', '/docs/b.html'];
  const { refresh, attempts, passedOver } = createRig(async (passOver, tell) => {
    const next = poison.find((path) => !passOver.includes(path));
    if (next === undefined) return done;
    tell({ kind: 'reading', absolute: next });
    return end();
  });

  expect(await refresh()).toEqual(done);
  expect(attempts).toEqual([[], ['/docs/a.html'], poison]);
  expect(passedOver[0]).toContain('/docs/a.html cannot be read');
});

it('fails where a thread ends and no file is to blame', async () => {
  const { refresh, attempts } = createRig(end);

  await expect(refresh()).rejects.toThrow(ThreadEndedError);
  expect(attempts).toHaveLength(1);
});

it('fails where passing over does not help', async () => {
  const { refresh, attempts } = createRig(async (_, tell) => {
    tell({ kind: 'reading', absolute: '/docs/a.html' });
    return end();
  });

  await expect(refresh()).rejects.toThrow(ThreadEndedError);
  expect(attempts).toHaveLength(2);
});

it('gives up after a number of such files', async () => {
  const { refresh, attempts } = createRig(async (passOver, tell) => {
    tell({ kind: 'reading', absolute: `/docs/${passOver.length}.html` });
    return end();
  });

  await expect(refresh()).rejects.toThrow(ThreadEndedError);
  expect(attempts).toHaveLength(21);
});

it('ends a thread that is silent for long, and none that tells something', async () => {
  let isOver = false;
  let tellAgain = () => {};
  const { refresh, clock } = createRig((_, tell) => {
    tellAgain = () => tell({ kind: 'progress', progress: done });
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
