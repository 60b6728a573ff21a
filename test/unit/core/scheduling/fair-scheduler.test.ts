import { describe, expect, it } from 'vitest';
import { createScheduler, runScheduled } from '../../../../src/core/scheduling/fair-scheduler.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { untilIdle } from '../../../support/session-rig.ts';

function openRig(atOnce = 1, atOnceOfAddress?: number) {
  const clock = createManualClock();
  const state = { isReady: true };
  const scheduler = createScheduler({
    atOnce,
    ...(atOnceOfAddress === undefined ? {} : { atOnceOfAddress }),
    clock,
    isReady: () => state.isReady,
  });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  /** Runs a task that ends when the test ends it. */
  const run = (key: string, signal = new AbortController().signal, address?: string) =>
    runScheduled(scheduler, {
      key,
      order: key,
      client: address === undefined ? null : { address, network: null },
      signal,
      toDropped: () => new Error('closed'),
      run: () => {
        begun.push(key);
        return new Promise<string>((resolve) => ends.set(key, () => resolve(`end of ${key}`)));
      },
    });
  const end = async (key: string) => {
    ends.get(key)?.();
    await untilIdle();
  };
  return { clock, state, scheduler, begun, run, end };
}

describe('createScheduler', () => {
  it('starts tasks as slots become free, and passes on their results', async () => {
    const { scheduler, begun, run, end } = openRig(2);
    const runs = ['1', '2', '3'].map((key) => run(key));
    expect([begun, scheduler.waiting]).toEqual([['1', '2'], 1]);

    await end('2');
    expect(begun).toEqual(['1', '2', '3']);
    for (const key of ['1', '3']) await end(key);

    expect(await Promise.all(runs)).toEqual(['end of 1', 'end of 2', 'end of 3']);
  });

  it('limits the running tasks of an address, and starts those of others', async () => {
    const { begun, run, end, scheduler } = openRig(2, 1);
    const { signal } = new AbortController();
    const runs = ['a1', 'a2', 'b1', 'b2'].map((key) => run(key, signal, key.slice(0, 1)));
    expect([begun, scheduler.waiting]).toEqual([['a1', 'b1'], 2]);

    await end('b1');
    expect(begun).toEqual(['a1', 'b1', 'b2']);
    for (const key of ['a1', 'a2', 'b2']) await end(key);
    await Promise.all(runs);
    expect(begun).toEqual(['a1', 'b1', 'b2', 'a2']);
  });

  it('continues after a task that fails', async () => {
    const { scheduler, run, end, begun } = openRig();
    const failing = runScheduled(scheduler, {
      key: '0',
      order: '0',
      client: null,
      signal: new AbortController().signal,
      toDropped: () => new Error('closed'),
      run: () => Promise.reject(new Error('it failed')),
    });
    const next = run('1');

    await expect(failing).rejects.toThrow('it failed');
    await untilIdle();
    expect(begun).toEqual(['1']);
    await end('1');
    expect(await next).toBe('end of 1');
  });

  it('removes a task from the queue when its signal is aborted', async () => {
    const { scheduler, run, end, begun } = openRig();
    const first = run('1');
    const leaving = new AbortController();
    const left = run('2', leaving.signal);
    leaving.abort(new Error('left'));

    await expect(left).rejects.toThrow('left');
    await expect(run('3', leaving.signal)).rejects.toThrow('left');
    expect(scheduler.waiting).toBe(0);
    await end('1');
    expect([await first, begun]).toEqual(['end of 1', ['1']]);
  });

  it('waits until tasks can start', async () => {
    const { clock, state, run, end, begun } = openRig();
    state.isReady = false;
    const first = run('1');
    await clock.advance(250);
    expect(begun).toEqual([]);

    state.isReady = true;
    await clock.advance(250);

    expect(begun).toEqual(['1']);
    await end('1');
    expect(await first).toBe('end of 1');
  });

  it('drops queued tasks when it is closed, and lets running ones finish', async () => {
    const { scheduler, run, end, begun } = openRig();
    const [first, second] = [run('1'), run('2')];

    scheduler.close();

    await expect(second).rejects.toThrow('closed');
    await end('1');
    expect([await first, begun]).toEqual(['end of 1', ['1']]);
  });
});
