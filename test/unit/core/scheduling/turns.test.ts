import { describe, expect, it } from 'vitest';
import { createServerLoop } from '../../../../src/core/scheduling/loop.ts';
import {
  createHeavyTurns,
  createTurns,
  type TurnLimits,
} from '../../../../src/core/scheduling/turns.ts';

/** Turns whose passes are counted and run by hand, each of which takes a millisecond. */
function open(limits: TurnLimits) {
  const passes: (() => void)[] = [];
  let nowMs = 0;
  const turns = createTurns(limits, {
    nextPass: (run) => {
      const begin = nowMs;
      passes.push(() => run(nowMs - begin));
    },
  });
  const admitted: string[] = [];
  const left = new Set<string>();
  const take = (client: string, name: string) =>
    turns.take(client, () => {
      nowMs += 1;
      if (!left.has(name)) admitted.push(name);
      return !left.has(name);
    });
  return { take, left, admitted, pass: () => passes.shift()?.(), passes };
}

describe('turns', () => {
  it('are taken immediately by a client that has some left', () => {
    const { take, admitted } = open({ each: 2 });

    for (const name of ['a1', 'a2', 'a3']) take('a', name);
    take('b', 'b1');

    expect(admitted).toEqual(['a1', 'a2', 'b1']);
  });

  it('are renewed in each pass, in the order of requests', () => {
    const { take, admitted, pass } = open({ each: 2 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) take('a', name);

    pass();
    take('a', 'a6');
    take('b', 'b1');

    expect(admitted).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
    pass();
    expect(admitted.slice(5)).toEqual(['a5', 'a6']);
  });

  it('alternate between clients if all share a few', () => {
    const { take, admitted, pass } = open({ each: 1, all: 1 });
    for (const name of ['a1', 'a2', 'a3']) take('a', name);
    for (const name of ['b1', 'b2']) take('b', name);

    for (let count = 0; count < 4; count += 1) pass();

    expect(admitted).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
  });

  it('are halved after a long pass, and doubled after a short one', () => {
    const { take, admitted, pass } = open({ each: 2, ms: 3 });
    for (const client of ['a', 'b', 'c', 'd']) {
      for (const number of [1, 2, 3, 4, 5]) take(client, `${client}${number}`);
    }

    const counts = [admitted.splice(0).length];
    for (let count = 0; count < 5; count += 1) {
      pass();
      counts.push(admitted.splice(0).length);
    }

    expect(counts).toEqual([8, 4, 2, 4, 2, 0]);
  });

  it('pass to the next waiter if the work is no longer needed', () => {
    const { take, left, admitted, pass } = open({ each: 1 });
    for (const name of ['a1', 'a2', 'a3']) take('a', name);
    left.add('a2');

    pass();

    expect(admitted).toEqual(['a1', 'a3']);
  });

  it('keep no state of a client that has left', () => {
    const { take, pass, passes } = open({ each: 1 });
    take('a', 'a1');

    pass();

    expect(passes).toEqual([]);
  });
});

it('leave passes of the event loop to others after heavy work', async () => {
  const turns = createHeavyTurns(createServerLoop());
  let passes = 0;
  const count = () => {
    passes += 1;
    if (passes < 10) setImmediate(count);
  };

  turns.take('a', () => {
    const begin = performance.now();
    while (performance.now() < begin + 50); // busy
    setImmediate(count);
    return true;
  });
  await new Promise<void>((resolve) => {
    turns.take('a', () => {
      resolve();
      return true;
    });
  });

  expect(passes).toBe(10);
});
