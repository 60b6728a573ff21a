import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { openDeadline, withDeadline } from '../../../../src/lib/scheduling/deadline.ts';

const untilAborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) => {
    signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });

describe('a deadline', () => {
  it('aborts work that takes too long', async () => {
    expect(await withDeadline(5, [], untilAborted)).toBe('aborted');
  });

  it('aborts together with a signal, also with one that is already aborted', async () => {
    const controller = new AbortController();
    const work = withDeadline(60_000, [controller.signal], untilAborted);
    controller.abort();

    expect(await work).toBe('aborted');
    const late = withDeadline(60_000, [controller.signal], async ({ aborted }) => aborted);
    expect(await late).toBe(true);
  });

  it('starts anew when it is restarted', async () => {
    const deadline = openDeadline(10, []);
    deadline.restart(60_000);
    const other = openDeadline(30, []);
    await untilAborted(other.signal);

    expect([deadline.signal.aborted, deadline.isExpired]).toEqual([false, false]);
    deadline.restart(1);
    await untilAborted(deadline.signal);
    expect(deadline.isExpired).toBe(true);
  });

  it('works if garbage is collected while the work waits', async () => {
    const path = JSON.stringify(import.meta.resolve('../../../../src/lib/scheduling/deadline.ts'));
    const script = `
      import { openDeadline, withDeadline } from ${path};
      const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      const work = withDeadline(300, [new AbortController().signal], async (signal) => {
        for (let i = 0; i < 100 && !signal.aborted; i += 1) { gc(); await wait(20); }
        return signal.aborted;
      });
      console.log(await work);
    `;
    const args = ['--expose-gc', '--import', import.meta.resolve('tsx'), '--input-type=module'];

    const { stdout } = await promisify(execFile)(process.execPath, [...args, '-e', script]);

    expect(stdout.trim()).toBe('true');
  });
});
