import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  createSlices,
  mapInSlices,
  mapInSteps,
  runAtOnce,
  runInSlices,
} from '../../../../src/core/scheduling/slices.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** Slices that record when a turn was taken, and work that takes milliseconds. */
function open() {
  const done: string[] = [];
  const { beginSlice, endSlice } = createSlices(async () => {
    await Promise.resolve();
    done.push('turn');
  });
  const work = (name: string) => {
    vi.advanceTimersByTime(8);
    done.push(name);
    return name.toUpperCase();
  };
  return { done, beginSlice, endSlice, work };
}

describe('slices of work', () => {
  it('end before the row that would make them too long', async () => {
    const { done, endSlice, work } = open();

    const found = await mapInSlices([...'abcdefg'], work, { endSlice });

    expect(found).toEqual([...'ABCDEFG']);
    expect(done).toEqual([...'abc', 'turn', ...'def', 'turn', 'g']);
  });

  it('continue from one list to the next', async () => {
    const { done, endSlice, work } = open();

    await mapInSlices([...'ab'], work, { endSlice });
    await mapInSlices([...'cd'], work, { endSlice });

    expect(done).toEqual([...'abc', 'turn', 'd']);
  });

  it('do not count waiting time', async () => {
    const { done, beginSlice, endSlice, work } = open();

    vi.advanceTimersByTime(1000);
    beginSlice();
    await mapInSlices([...'abcd'], work, { endSlice });

    expect(done).toEqual([...'abc', 'turn', 'd']);
  });

  it('end before a step in the same way', async () => {
    const { done, endSlice, work } = open();

    const found = await runInSlices(mapInSteps([...'abcd'], work), { endSlice });

    expect(found).toEqual([...'ABCD']);
    expect(done).toEqual([...'abc', 'turn', 'd']);
  });

  it('are a single one without a callback', async () => {
    const { done, work } = open();

    expect(runAtOnce(mapInSteps([...'abcd'], work))).toEqual([...'ABCD']);
    expect(await runInSlices(mapInSteps([...'e'], work), {})).toEqual(['E']);
    expect(await mapInSlices([...'f'], work, {})).toEqual(['F']);
    expect(done).toEqual([...'abcdef']);
  });
});
