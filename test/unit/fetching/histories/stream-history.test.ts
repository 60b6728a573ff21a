import { describe, expect, it } from 'vitest';
import {
  createFakeTimeline,
  type Entry,
  type EntryKind,
  type TimelineHabits,
} from '../../../support/fake-timeline.ts';
import { fc, runs } from '../../../support/fast-check.ts';
import {
  answerFromMemory,
  createChance,
  createTestImporter,
  type Imported,
  importAll,
  waitTurns,
} from '../../../support/history-rig.ts';
import type { Fields } from '../../../support/x-payloads.ts';

const endMs = Date.UTC(2026, 10, 1);
const dayMs = 86_400_000;

const kind: fc.Arbitrary<EntryKind> = fc.constantFrom(
  ...(['post', 'post', 'post', 'reply', 'reply', 'module', 'repost', 'repost'] as const),
  'gone',
);

/** Posts at a steady rate, in a burst, in one second, or far apart. */
const stretch: fc.Arbitrary<readonly number[]> = fc
  .tuple(
    fc.integer({ min: 1, max: 60 }),
    fc.constantFrom(0, 10, 1000, 60_000, 3_600_000, dayMs),
    fc.constantFrom(0, 1000, dayMs, 300 * dayMs),
  )
  .map(([count, stepMs, silenceMs]) => [
    silenceMs,
    ...Array.from({ length: count }, (_, index) => (index === 0 ? 0 : stepMs)),
  ]);

const entries: fc.Arbitrary<readonly Entry[]> = fc
  .tuple(fc.array(stretch, { maxLength: 8 }), fc.array(kind, { minLength: 1, maxLength: 40 }))
  .map(([stretches, kinds]) => {
    let ms = endMs;
    return stretches.flat().map((stepMs, index) => {
      ms -= stepMs;
      return { ms, kind: index % 3 === 0 ? 'post' : (kinds[index % kinds.length] ?? 'post') };
    });
  });

const habits: fc.Arbitrary<TimelineHabits> = fc.record({
  pageSize: fc.constantFrom(3, 7, 20, 30, 40),
  shortShare: fc.constantFrom(0, 0.1),
  end: fc.constantFrom('null' as const, 'same' as const),
  hasPinned: fc.boolean(),
  repeats: fc.boolean(),
});

const range = fc.record({
  sinceSeconds: fc.option(fc.nat(10), { nil: null }),
  untilSeconds: fc.option(fc.nat(10), { nil: null }),
  withReplies: fc.boolean(),
  withReposts: fc.boolean(),
  onlyReplies: fc.boolean(),
});

const steady: TimelineHabits = {
  pageSize: 20,
  shortShare: 0,
  end: 'same',
  hasPinned: false,
  repeats: true,
};

type Asked = typeof range extends fc.Arbitrary<infer One> ? One : never;

/** Moves the ends of a range to posts. */
function toRange(
  { sinceSeconds, untilSeconds, withReplies, withReposts, onlyReplies }: Asked,
  made: readonly Entry[],
) {
  const at = (tenth: number | null) => {
    const entry = made[Math.floor(((tenth ?? 0) / 10) * (made.length - 1))];
    return tenth === null || entry === undefined ? null : Math.floor(entry.ms / 1000);
  };
  const [last, since] = [at(untilSeconds), at(sinceSeconds)];
  // Below the oldest post, X still returns cursors, which the fake source does not.
  const isAboveSome = last !== null && made.some(({ ms }) => ms < last * 1000);
  const until = isAboveSome ? last : null;
  const isOrdered = until === null || since === null || since < until;
  return {
    untilSeconds: until,
    sinceSeconds: isOrdered ? since : null,
    withReplies: withReplies || onlyReplies,
    withReposts: withReposts && !onlyReplies,
    onlyReplies,
  };
}

interface Placed {
  readonly id: string;
  readonly second: number;
}

/** Excludes missing posts in ranges that are reported as uncertain. */
function dropUncertain(truth: readonly Placed[], { ids, end }: Imported): readonly Placed[] {
  const isUncertain = (second: number) =>
    end.uncertain.some(
      ({ sinceSecond, untilSecond }) =>
        second >= (sinceSecond ?? 0) && second < (untilSecond ?? Number.POSITIVE_INFINITY),
    );
  return truth.filter(({ id, second }) => ids.includes(id) || !isUncertain(second));
}

/** Posts of the second of a cut may be missing. */
function expectNewest(ids: readonly string[], truth: readonly Placed[], maxPosts: number): void {
  const wanted = truth.slice(0, maxPosts);
  const cut = truth.length > maxPosts ? (wanted.at(-1)?.second ?? 0) : -1;
  const known = new Map(truth.map(({ id, second }) => [id, second]));
  const found = ids.map((id) => ({ id, second: known.get(id) ?? -2 }));
  const before = (posts: readonly Placed[]) =>
    posts.flatMap(({ id, second }) => (second > cut ? [id] : [])).toSorted();

  expect(new Set(ids).size).toBe(wanted.length);
  expect(ids).toHaveLength(wanted.length);
  expect(before(found)).toEqual(before(truth));
  expect(Math.min(...found.map(({ second }) => second), cut)).toBe(cut);
}

function expectSome(ids: readonly string[], truth: readonly Placed[], maxPosts: number): void {
  const known = new Set(truth.map(({ id }) => id));
  expect(new Set(ids).size).toBe(maxPosts);
  expect(ids.filter((id) => !known.has(id))).toEqual([]);
}

/** Truncates a page below the first row with its last post. */
function cutAtLast({ results, ...rest }: Fields): Fields {
  if (!Array.isArray(results)) return rest;
  const first = results.findIndex(({ id }) => id === results.at(-1)?.id);
  return { ...rest, results: results.slice(0, first + 1) };
}

describe('the stream of a history', () => {
  it('has all posts for any number of concurrent pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          made: entries,
          habits,
          range,
          concurrency: fc.constantFrom(1, 2, 5, 16),
          maxPosts: fc.constantFrom(1, 10, 100, 5000),
          seed: fc.integer(),
        }),
        async ({ made, habits: how, range: wanted, concurrency, maxPosts, seed }) => {
          const timeline = createFakeTimeline(made, how);
          const chance = createChance(seed);
          const http = answerFromMemory(async (url) => {
            const body = timeline.answer(url, chance);
            await waitTurns(Math.floor(chance() * 3));
            return { body };
          });
          const importer = createTestImporter({ http, concurrency, timeoutMs: 60_000 });
          const query = { ...toRange(wanted, made), maxPosts };

          const imported = await importAll(importer, query);

          const { ids, end } = imported;
          const truth = dropUncertain(timeline.truth(query), imported);
          const isCut = truth.length > maxPosts;
          // A post that a thread repeats is missing in its own place, so a repost there appears newer.
          const isVague = query.withReposts && made.some(({ kind }) => kind === 'module');
          if (isCut && isVague) expectSome(ids, truth, maxPosts);
          else expectNewest(ids, truth, maxPosts);
          expect(end.count).toBe(ids.length);
          if (truth.length !== maxPosts) expect(end.isTruncated).toBe(truth.length > maxPosts);
          if (how.shortShare === 0) expect(end.uncertain).toEqual([]);
          expect(importer.running).toBe(0);
        },
      ),
      { numRuns: runs(150) },
    );
  }, 120_000);

  it('detects a page that is truncated at a reply and repeats its last post', async () => {
    const kinds: readonly EntryKind[] = ['post', 'module', 'post'];
    const made = Array.from({ length: 30 }, (_, index) => ({
      kind: kinds[index % kinds.length] ?? 'post',
      ms: endMs - Math.floor(index / 12) * 1000,
    }));
    const timeline = createFakeTimeline(made, { ...steady, pageSize: 3 });
    const requested = new Set<string>();
    const http = answerFromMemory((url) => {
      const body = timeline.answer(url, () => 1);
      const isFirst = !requested.has(url);
      requested.add(url);
      return { body: isFirst ? cutAtLast(body) : body };
    });

    const { ids, end } = await importAll(createTestImporter({ http, concurrency: 2 }));

    expect(ids).toHaveLength(made.length);
    expect(end).toMatchObject({ isTruncated: false, isFloorReached: true, uncertain: [] });
  });
});
