import { setImmediate as pass } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createServerLoop } from '../../../../src/lib/scheduling/fair-queue.ts';

/** Accepts connections in some passes, and returns the number of passes until the loop continued. */
async function countPasses(connections: number): Promise<number> {
  const loop = createServerLoop();
  let hasRun = false;
  let passes = 0;
  const accept = async () => {
    for (let left = connections; left > 0; left -= 1) {
      loop.noteConnection();
      await pass();
    }
  };
  loop.nextPass(() => {
    hasRun = true;
  });
  const accepting = accept();
  while (!hasRun) {
    passes += 1;
    await pass();
  }
  await accepting;
  return passes;
}

describe('the next pass of a server', () => {
  it('waits until arriving connections are accepted', async () => {
    const quiet = await countPasses(0);

    expect(await countPasses(5)).toBe(quiet + 5);
  });

  it('comes even if connections keep arriving', async () => {
    const quiet = await countPasses(0);

    expect(await countPasses(1000)).toBe(quiet + 128);
  });

  it('receives the duration of the previous pass', async () => {
    const loop = createServerLoop();
    const begin = performance.now();

    const lengthMs = await new Promise<number>((resolve) => {
      loop.nextPass(resolve);
      while (performance.now() < begin + 20); // busy
    });

    expect(lengthMs).toBeGreaterThan(19);
  });
});
