import { describe, expect, it } from 'vitest';
import type { HttpClient } from '../../../../src/lib/http/http-client.ts';
import { Problem } from '../../../../src/lib/problem.ts';
import {
  leastIdAt,
  readTimelineCursor,
} from '../../../../src/providers/fxtwitter/lists/timeline.ts';
import { createFakeTimeline, type Entry } from '../../../support/fake-timeline.ts';
import {
  answerFromMemory,
  createLeapingClock,
  createTestImporter,
  importAll,
  type MadeAnswer,
  waitTurns,
  wholeHistory,
} from '../../../support/history-rig.ts';
import { openQuotas } from '../../../support/quotas.ts';

const hourMs = 3_600_000;
const newestMs = Date.UTC(2026, 9, 1);

function hourly(count: number): readonly Entry[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: 'post',
    ms: newestMs - index * hourMs,
  }));
}

const steady = {
  pageSize: 20,
  shortShare: 0,
  end: 'null',
  hasPinned: false,
  repeats: false,
} as const;
const timeline = createFakeTimeline(hourly(400), steady);
const all = timeline.truth({ ...wholeHistory, sinceSeconds: null, untilSeconds: null });
const page = (url: string): MadeAnswer => ({ body: timeline.answer(url, () => 1) });
const isPage = (url: string) => url.includes('/statuses');

/** Answers like the timeline, except for pages from the `from`th on. */
function failFrom(from: number, failure: MadeAnswer, until = Number.POSITIVE_INFINITY) {
  let pages = 0;
  return answerFromMemory(async (url) => {
    await waitTurns(1);
    if (!isPage(url)) return page(url);
    pages += 1;
    return pages >= from && pages < until ? failure : page(url);
  });
}

describe('an import', () => {
  it('waits while the upstream throttles, and continues', async () => {
    const clock = createLeapingClock();
    const startMs = clock.now();
    const http = failFrom(4, { status: 429, retryAfterSeconds: 20, body: 'Slow down' }, 6);

    const { ids, end } = await importAll(createTestImporter({ http, clock, concurrency: 3 }));

    expect(ids).toEqual(all.map(({ id }) => id));
    expect(end).toMatchObject({ isTruncated: false, isFloorReached: true, failure: null });
    expect(clock.now() - startMs).toBeGreaterThanOrEqual(20_000);
  });

  it('respects the limit of requests in 60 seconds', async () => {
    const clock = createLeapingClock();
    const times: number[] = [];
    const upstream = answerFromMemory(page);
    const http: HttpClient = {
      ...upstream,
      get: (...request) => {
        times.push(clock.now()); // before anything else moves the clock
        return upstream.get(...request);
      },
    };

    const { ids } = await importAll(
      createTestImporter({ http, clock, perMinute: 5, timeoutMs: 3_600_000, concurrency: 2 }),
    );

    expect(ids).toHaveLength(all.length);
    for (const from of times) {
      expect(times.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(5);
    }
  });

  it('returns the posts found before a failure, and the missing ranges', async () => {
    const http = failFrom(6, { status: 503, body: 'Down' });

    const { ids, end } = await importAll(createTestImporter({ http, concurrency: 2 }));

    expect(end.failure).toBeInstanceOf(Problem);
    expect(end).toMatchObject({ isTruncated: true, isFloorReached: false, count: ids.length });
    expect(end.warnings.join(' ')).toMatch(/failed before all posts were read.*Posts are missing/);
    const isInGap = (second: number) =>
      end.gaps.some(
        ({ sinceSecond, untilSecond }) =>
          second >= (sinceSecond ?? 0) && second < (untilSecond ?? Number.POSITIVE_INFINITY),
      );
    const missing = all.filter(({ id }) => !ids.includes(id));
    expect(missing.length).toBeGreaterThan(0);
    expect(missing.filter(({ second }) => !isInGap(second))).toEqual([]);
    expect(end.nextUntilSecond).toBe(end.gaps[0]?.untilSecond);
  });

  it('retries a page that fails once', async () => {
    const http = failFrom(3, { status: 503, body: 'Down' }, 4);

    const { ids, end } = await importAll(createTestImporter({ http }));

    expect([ids.length, end.isTruncated]).toEqual([all.length, false]);
  });

  it('fails with the problem if no posts were found', async () => {
    const importer = createTestImporter({ http: failFrom(1, { status: 503, body: 'Down' }) });

    await expect(importAll(importer)).rejects.toMatchObject({ code: 'upstream_unavailable' });
    expect(importer.running).toBe(0);
  });

  it('returns the posts found before the pool is exhausted', async () => {
    let left = 6;
    const pool = {
      take: async () => {
        left -= 1;
        if (left < 0) throw new Problem('rate_limited', { detail: 'All.', retryAfterSeconds: 9 });
      },
    };
    const http = answerFromMemory(page);

    const { ids, end } = await importAll(createTestImporter({ http, pool, concurrency: 1 }));

    expect(ids).toEqual(all.slice(0, ids.length).map(({ id }) => id));
    expect(ids.length).toBeGreaterThan(0);
    expect(end.failure).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 9 });
  });

  it('reports a deleted account', async () => {
    const gone: unknown[] = [];
    const importer = createTestImporter({
      http: answerFromMemory(page),
      onGone: (account) => gone.push(account),
    });
    const account = { platform: 'x', handle: 'x' } as const;

    await expect(importAll(importer, { account })).rejects.toMatchObject({
      code: expect.stringMatching(/not_found|upstream_unavailable/),
    });
    expect(importer.running).toBe(0);
  });

  it('stops requests when its reader leaves', async () => {
    const leaving = new AbortController();
    let requests = 0;
    const http = answerFromMemory(async (url) => {
      requests += 1;
      await waitTurns(2);
      return page(url);
    });
    const importer = createTestImporter({ http, concurrency: 2 });
    const { posts } = await importer.begin(wholeHistory, { signal: leaving.signal });
    await posts.next();

    leaving.abort();

    await expect(posts.next().then(() => posts.next())).rejects.toThrow();
    const askedThen = requests;
    await waitTurns(20);
    expect(requests).toBe(askedThen);
    expect(importer.running).toBe(0);
  });

  it('stops requests when its reader closes it', async () => {
    let requests = 0;
    const http = answerFromMemory(async (url) => {
      requests += 1;
      await waitTurns(2);
      return page(url);
    });
    const importer = createTestImporter({ http, concurrency: 2 });
    const { posts } = await importer.begin(wholeHistory, { signal: new AbortController().signal });
    await posts.next();

    await posts.close();

    const askedThen = requests;
    await waitTurns(20);
    expect([requests, importer.running]).toEqual([askedThen, 0]);
  });

  it('pauses requests while its reader is slow', async () => {
    const long = createFakeTimeline(hourly(5000), steady);
    let requests = 0;
    const http = answerFromMemory((url) => {
      requests += 1;
      return { body: long.answer(url, () => 1) };
    });
    const importer = createTestImporter({ http, concurrency: 4 });
    const { posts } = await importer.begin(wholeHistory, { signal: new AbortController().signal });

    await waitTurns(500);

    expect(requests).toBeLessThan(100);
    await posts.close();
  });

  it('warns if the source does not report whether reposts are from before the range', async () => {
    const mixed = createFakeTimeline(
      hourly(60).map((entry, index) => (index % 3 === 0 ? entry : { ...entry, kind: 'repost' })),
      steady,
    );
    const sinceSeconds = Math.floor(newestMs / 1000) - 30 * 3600 - 1;
    const isBelow = (url: string) => {
      const cursor = new URL(url, 'http://fx.example').searchParams.get('cursor');
      return readTimelineCursor(cursor ?? '')?.sortId === leastIdAt(sinceSeconds * 1000);
    };
    let requests = 0;
    const http = answerFromMemory((url) => {
      const body = mixed.answer(url, () => 1);
      if (!isBelow(url)) return { body };
      requests += 1;
      const rows = Array.isArray(body.results) ? body.results : [];
      return { body: { ...body, results: rows.slice(0, requests % 3 === 0 ? 1 : 0) } };
    });

    const { ids, end } = await importAll(createTestImporter({ http, concurrency: 1 }), {
      sinceSeconds,
    });

    expect(ids.length).toBeGreaterThanOrEqual(31);
    expect(end.warnings).toEqual([expect.stringMatching(/reposts may be from before/)]);
  });

  it('is rejected at the limit of concurrent imports', async () => {
    const quotas = openQuotas({ histories: { perAddress: 1, total: 1 } });
    const importer = createTestImporter({ http: answerFromMemory(page), quotas });
    const waiting = { signal: new AbortController().signal };
    const first = await importer.begin(wholeHistory, waiting);

    await expect(importer.begin(wholeHistory, waiting)).rejects.toMatchObject({
      code: 'overloaded',
    });
    await first.posts.close();
    await expect(importAll(importer)).resolves.toMatchObject({ end: { count: all.length } });
  });

  it('ends with a problem when the process stops', async () => {
    const stopping = new AbortController();
    const http = answerFromMemory(async (url) => {
      await waitTurns(2);
      return page(url);
    });
    const importer = createTestImporter({ http, stop: stopping.signal, concurrency: 1 });
    const { posts } = await importer.begin(wholeHistory, { signal: new AbortController().signal });

    stopping.abort();
    await posts.next();

    await expect(posts.next()).rejects.toMatchObject({ code: 'shutting_down' });
  });
});
