import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type HistoryStore,
  openHistoryStore,
} from '../../../../src/archive/histories/history-store.ts';
import type { HistoryQuery } from '../../../../src/fetching/histories/history-result.ts';
import { createStoredHistory } from '../../../../src/fetching/histories/stored-history.ts';
import { createFakeTimeline, type Entry, type EntryKind } from '../../../support/fake-timeline.ts';
import { fc, runs } from '../../../support/fast-check.ts';
import {
  answerFromMemory,
  createChance,
  createLeapingClock,
  createTestImporter,
  importAll,
  wholeHistory,
} from '../../../support/history-rig.ts';

const beginMs = Date.UTC(2026, 5, 1);
const dayMs = 86_400_000;

const kind: fc.Arbitrary<EntryKind> = fc.constantFrom(
  ...(['post', 'post', 'post', 'reply', 'module', 'repost', 'repost', 'gone'] as const),
);

/** Posts between two imports, and the time between the imports. */
const stretch = fc
  .tuple(fc.constantFrom(0, 10, 1000, 60_000, 3_600_000, dayMs), fc.array(kind, { maxLength: 50 }))
  .map(([stepMs, kinds]) => kinds.map((one) => ({ kind: one, stepMs })));

const importStep = fc.record({
  posted: stretch,
  /** Milliseconds before the import. */
  waitMs: fc.constantFrom(0, 999, 1_800_000, dayMs, dayMs),
  since: fc.option(fc.nat(12), { nil: null, freq: 1 }),
  until: fc.option(fc.nat(12), { nil: null, freq: 1 }),
  withReplies: fc.boolean(),
  withReposts: fc.boolean(),
  onlyReplies: fc.constantFrom(false, false, false, true),
  useStored: fc.constantFrom(true, true, true, false),
  maxPosts: fc.constantFrom(1, 10, 100, 5000, 5000),
  concurrency: fc.constantFrom(1, 3, 16),
});

type ImportStep = typeof importStep extends fc.Arbitrary<infer One> ? One : never;

const habits = fc.record({
  pageSize: fc.constantFrom(3, 7, 20),
  shortShare: fc.constantFrom(0, 0.1),
  end: fc.constantFrom('null' as const, 'same' as const),
  hasPinned: fc.boolean(),
  repeats: fc.boolean(),
});

/** Moves the ends of a range to a post, or right beside one. */
function toQuery(one: ImportStep, made: readonly Entry[]): Partial<HistoryQuery> {
  const { since, until, withReplies, withReposts, onlyReplies, useStored, maxPosts } = one;
  const at = (twelfth: number | null) => {
    const entry = made[Math.floor(((twelfth ?? 0) / 12) * (made.length - 1))];
    return twelfth === null || entry === undefined ? null : Math.floor(entry.ms / 1000);
  };
  const [first, last] = [at(since), at(until)];
  // Below the oldest post, X still returns cursors, which the fake source does not.
  const isAboveSome = last !== null && made.some(({ ms }) => ms < last * 1000);
  const untilSeconds = isAboveSome ? last : null;
  const isOrdered = first === null || untilSeconds === null || first < untilSeconds;
  return {
    ...{ untilSeconds, useStored, maxPosts, onlyReplies },
    sinceSeconds: isOrdered ? first : null,
    withReplies: withReplies || onlyReplies,
    withReposts: withReposts && !onlyReplies,
  };
}

interface Placed {
  readonly id: string;
  readonly second: number;
}

/**
 * Posts of the second of a cut may be missing. The times of reposts are imprecise, so ranges with reposts may lack
 * more.
 */
function expectNewest(
  ids: readonly string[],
  truth: readonly Placed[],
  { maxPosts, withReposts }: ImportStep,
): void {
  const wanted = truth.slice(0, maxPosts);
  const known = new Set(truth.map(({ id }) => id));
  expect(ids).toHaveLength(wanted.length);
  expect(ids.filter((id) => !known.has(id))).toEqual([]);
  if (truth.length > maxPosts && withReposts) return;
  const cut = truth.length > maxPosts ? (wanted.at(-1)?.second ?? 0) : -1;
  const sure = wanted.flatMap(({ id, second }) => (second > cut ? [id] : []));
  expect(sure.filter((id) => !ids.includes(id))).toEqual([]);
}

interface Course {
  readonly steps: readonly ImportStep[];
  readonly how: Parameters<typeof createFakeTimeline>[1];
  readonly seed: number;
}

interface Moment {
  readonly nowMs: number;
  readonly made: readonly Entry[];
}

/** A newer post follows every pinned one. */
const begun: Moment = {
  nowMs: beginMs + 1000,
  made: [
    { kind: 'post', ms: beginMs + 1000 },
    { kind: 'post', ms: beginMs },
  ],
};

function moveOn({ nowMs, made }: Moment, { posted, waitMs }: ImportStep): Moment {
  let ms = nowMs;
  const entries = posted.map(({ kind: what, stepMs }) => {
    ms += stepMs;
    return { kind: what, ms };
  });
  return { nowMs: ms + waitMs + 1, made: [...entries.reverse(), ...made] };
}

async function importOnce(
  { made, nowMs }: Moment,
  one: ImportStep,
  { historyStore, how, seed }: StoreOptions,
) {
  const timeline = createFakeTimeline(made, how);
  const chance = createChance(seed);
  const importer = createTestImporter({
    http: answerFromMemory((url) => ({ body: timeline.answer(url, chance) })),
    clock: createLeapingClock(nowMs),
    concurrency: one.concurrency,
    historyStore,
    onStoreFailure: (error) => {
      throw error;
    },
  });
  const query = toQuery(one, made);
  const { ids, end } = await importAll(importer, query);
  const all = { sinceSeconds: null, untilSeconds: null, withReplies: true, withReposts: true };
  return { ids, end, truth: timeline.truth({ ...all, onlyReplies: false, ...query }) };
}

interface StoreOptions extends Omit<Course, 'steps'> {
  readonly historyStore: HistoryStore;
}

/** Imports repeatedly. Returns the number of posts from the store. */
async function follow({ steps, ...rest }: Course): Promise<number> {
  const historyStore = openHistoryStore({
    path: ':memory:',
    baseUrl: 'http://perch.example',
    maxBytes: 1e9,
  });
  onTestFinished(() => historyStore.close());
  let [moment, fromStore] = [begun, 0];
  for (const one of steps) {
    moment = moveOn(moment, one);
    const { ids, end, truth } = await importOnce(moment, one, { ...rest, historyStore });
    expect(new Set(ids).size).toBe(ids.length);
    expectNewest(ids, truth, one);
    expect(end.count).toBe(ids.length);
    expect(end.storedCount).toBeLessThanOrEqual(one.useStored ? ids.length : 0);
    if (truth.length !== one.maxPosts) expect(end.isTruncated).toBe(truth.length > one.maxPosts);
    fromStore += end.storedCount;
  }
  return fromStore;
}

describe('imports with stored parts', () => {
  it('find all posts after any earlier imports', async () => {
    let fromStore = 0;
    const course = fc.record({
      steps: fc.array(importStep, { minLength: 2, maxLength: 6 }),
      how: habits,
      seed: fc.integer(),
    });

    await fc.assert(
      fc.asyncProperty(course, async (one) => {
        fromStore += await follow(one);
      }),
      { numRuns: runs(100) },
    );

    expect(fromStore).toBeGreaterThan(runs(100));
  }, 120_000);
});

describe('stored posts of an account that has become protected', () => {
  it('are not returned, even if the store cannot delete them', async () => {
    const historyStore = openHistoryStore({
      path: ':memory:',
      baseUrl: 'http://perch.example',
      maxBytes: 1e9,
    });
    onTestFinished(() => historyStore.close());
    const made = Array.from({ length: 30 }, (_, at) => {
      return { kind: 'post' as const, ms: beginMs - at * dayMs };
    });
    const timeline = createFakeTimeline(made, {
      ...{ pageSize: 20, shortShare: 0, end: 'null', hasPinned: false, repeats: false },
    });
    const clock = createLeapingClock(beginMs + dayMs);
    const http = answerFromMemory((url) => ({ body: timeline.answer(url, () => 1) }));
    const importer = createTestImporter({ http, clock, historyStore });
    const { signal } = new AbortController();
    const { account, posts } = await importer.begin(wholeHistory, { signal });
    while ((await posts.next()).done !== true);
    const faults: unknown[] = [];
    const refuse = () => {
      throw new Error('The disk is full.');
    };
    const { read } = createStoredHistory({
      query: wholeHistory,
      source: { account: null, isArchive: false },
      historyStore: { ...historyStore, delete: refuse },
      clock,
      onStoreFailure: (error) => faults.push(error),
    });

    const [open, hidden] = [
      await read(Promise.resolve(account)),
      await read(Promise.resolve({ ...account, protected: true })),
    ];

    expect(open.posts).toHaveLength(30);
    expect(hidden).toEqual({ ranges: [], posts: [] });
    expect(faults).toHaveLength(1);
  });
});
