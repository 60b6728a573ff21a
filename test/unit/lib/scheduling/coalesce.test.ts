import { describe, expect, it } from 'vitest';
import { createCoalescer } from '../../../../src/lib/scheduling/coalesce.ts';

/** Creates work that ends when the test says so. */
function createWork() {
  const started: {
    readonly signal: AbortSignal;
    readonly resolve: (found: string) => void;
    readonly reject: (error: unknown) => void;
  }[] = [];
  const start = (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => started.push({ signal, resolve, reject }));
  return { started, start };
}

describe('shared work', () => {
  it('is started again by a waiting caller if its error concerns only the first', async () => {
    const share = createCoalescer<string>((error) => error === 'quota');
    const { started, start } = createWork();

    const first = share('key', undefined, start).catch((error: unknown) => error);
    const others = [share('key', undefined, start), share('key', undefined, start)];
    started[0]?.reject('quota');
    await expect(first).resolves.toBe('quota');
    await expect.poll(() => started.length).toBe(2);
    started[1]?.resolve('found');

    await expect(Promise.all(others)).resolves.toEqual(['found', 'found']);
    expect(started).toHaveLength(2);
  });

  it('fails for all callers with any other error', async () => {
    const share = createCoalescer<string>((error) => error === 'quota');
    const { started, start } = createWork();

    const calls = Promise.allSettled([
      share('key', undefined, start),
      share('key', undefined, start),
    ]);
    started[0]?.reject('outage');

    const reason = { status: 'rejected', reason: 'outage' };
    await expect(calls).resolves.toEqual([reason, reason]);
    expect(started).toHaveLength(1);
  });

  it('is aborted only when no caller waits', async () => {
    const share = createCoalescer<string>();
    const { started, start } = createWork();
    const [one, other] = [new AbortController(), new AbortController()];

    const calls = Promise.allSettled([
      share('key', one.signal, start),
      share('key', other.signal, start),
    ]);
    one.abort();
    await Promise.resolve();
    expect(started[0]?.signal.aborted).toBe(false);
    other.abort();
    await calls;

    expect(started[0]?.signal.aborted).toBe(true);
  });
});
