import { describe, expect, it } from 'vitest';
import { createFakeTimeline, type Entry, type EntryKind } from '../../../support/fake-timeline.ts';
import {
  answerFromMemory,
  createChance,
  createTestImporter,
  importAll,
  waitTurns,
} from '../../../support/history-rig.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const newestMs = Date.UTC(2026, 9, 1);
const kinds: readonly EntryKind[] = ['post', 'repost', 'post', 'reply'];

/** Returns posts and reposts at a steady interval, of which the newest is `ageMs` older than the newest of all. */
function steady(count: number, stepMs = hourMs, ageMs = 0): readonly Entry[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: kinds[index % kinds.length] ?? 'post',
    ms: newestMs - ageMs - index * stepMs,
  }));
}

/** 1000 posts in four bursts of different density, with more than a year between them. */
const bursts = [
  ...steady(300),
  ...steady(300, 60_000, 400 * dayMs),
  ...steady(300, dayMs, 800 * dayMs),
  ...steady(100, 1000, 2000 * dayMs),
];

/** Form of the last page, and whether responses take different times. */
const sources = (['null', 'same'] as const).flatMap((end) =>
  [false, true].map((isUneven) => ({ end, isUneven })),
);

// With 20 posts on a page, 120 posts have 6 pages. Up to 5 requests confirm the end of a timeline.
const cases: readonly (readonly [string, readonly Entry[], number])[] = [
  ['0 posts', [], 2],
  ['1 post', steady(1), 10],
  ['20 posts', steady(20), 6],
  ['21 posts', steady(21), 12],
  ['120 posts', steady(120), 24],
  ['1000 posts', steady(1000), 160],
  ['1000 posts with long gaps', bursts, 140],
];

describe('the number of pages that an import requests', () => {
  it.each(
    cases.flatMap(([name, entries, most]) =>
      sources.map((source) => ({ name, entries, most, ...source })),
    ),
  )(
    'is at most $most for $name (last page: $end, uneven responses: $isUneven)',
    async ({ entries, most, end, isUneven }) => {
      const habits = { pageSize: 20, shortShare: 0, hasPinned: false, repeats: true, end };
      const timeline = createFakeTimeline(entries, habits);
      const chance = createChance(1);
      let pages = 0;
      const http = answerFromMemory(async (url) => {
        if (url.includes('/statuses')) pages += 1;
        await waitTurns(isUneven ? Math.floor(chance() * 10) : 5);
        return { body: timeline.answer(url, () => 1) };
      });

      const imported = await importAll(createTestImporter({ http, concurrency: 48 }));

      expect(imported.ids).toHaveLength(entries.length);
      expect(imported.end).toMatchObject({ isTruncated: false, uncertain: [] });
      expect(pages).toBeLessThanOrEqual(most);
    },
  );
});
