import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import type { Status } from '../../src/model/post.ts';
import type { Page, TimelineQuery } from '../../src/model/queries.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { buildTestApp } from '../support/build-app.ts';
import { stubAccount, stubPost } from '../support/stub-provider.ts';

const path = '/api/v1/profiles/wren/posts';
const newestSecond = 1_767_225_600;

type Timeline = (query: TimelineQuery, signal: AbortSignal) => Promise<Page<Status>>;

function createTimelineProvider(timeline: Timeline): Provider {
  return {
    name: 'stub',
    platforms: ['x'],
    reads: new Set(['profile', 'timeline']),
    covers: () => true,
    fetch: {
      profile: async () => ({ account: stubAccount('wren'), warnings: [] }),
      timeline: (query, { signal }) => timeline(query, signal),
    },
  };
}

/** Returns posts with ids from `first`, each a second older than the previous one. */
function pageOf(first: number, count: number, text = 'Fog.'): readonly Status[] {
  return Array.from({ length: count }, (_, index) => {
    const second = newestSecond - first - index;
    const created_at = new Date(second * 1000).toISOString();
    return stubPost(String(9000 - first - index), { text, created_at, created_timestamp: second });
  });
}

const never: Timeline = (_query, signal) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

/** Returns 20 posts and then never answers again. */
const stopsAfterOnePage: Timeline = async ({ cursor, untilSeconds }, signal) =>
  cursor === null && untilSeconds === null
    ? { items: pageOf(0, 20), cursor: 'more', warnings: [], isExact: true }
    : never({} as TimelineQuery, signal);

describe('histories', () => {
  it('are limited per client address, so that other clients can import', async () => {
    const app = await buildTestApp({
      providers: [createTimelineProvider(never)],
      clock: systemClock,
      env: { PERCH_HISTORY_IMPORTS: '8', PERCH_HISTORY_IMPORTS_PER_ADDRESS: '2' },
    });
    const ask = (remoteAddress: string) => app.request(`${path}?format=ndjson`, { remoteAddress });
    const held = Array.from({ length: 6 }, () => ask('192.0.2.1'));
    const refused = await Promise.race(held);
    await expect.poll(() => app.inFlight).toBe(2);

    const other = ask('198.51.100.1');

    await expect.poll(() => app.inFlight).toBe(3);
    expect([refused.statusCode, refused.json().code]).toEqual([503, 'overloaded']);
    app.cutOff();
    await Promise.all([...held, other]);
  });

  it.each(['json', 'ndjson'])(
    'as %s get a problem if no post arrives before the deadline of a read',
    async (format) => {
      const app = await buildTestApp({
        providers: [createTimelineProvider(never)],
        clock: systemClock,
        env: { PERCH_READ_TIMEOUT_MS: '200' },
      });

      const reply = await app.request(`${path}?format=${format}`);

      expect([reply.statusCode, reply.json().code]).toEqual([503, 'upstream_unavailable']);
      expect(reply.json().detail).toContain('200 ms');
    },
  );

  it('as one document end at the deadline of a read, with next_until', async () => {
    const app = await buildTestApp({
      providers: [createTimelineProvider(stopsAfterOnePage)],
      clock: systemClock,
      env: { PERCH_READ_TIMEOUT_MS: '300' },
    });

    const { meta, posts, warnings } = (await app.request(path)).json();

    expect(posts).toHaveLength(20);
    expect(meta).toMatchObject({ truncated: true, next_until: expect.any(String) });
    expect(warnings.join(' ')).toContain('format=ndjson');
  });

  it('over 16 MiB are rejected as one document, with a hint to the format without a limit', async () => {
    const text = 'x'.repeat(100_000);
    const large: Timeline = async () => ({
      items: pageOf(0, 200, text),
      cursor: null,
      warnings: [],
      isExact: true,
    });
    const app = await buildTestApp({ providers: [createTimelineProvider(large)] });

    const document = await app.request(path);
    const lines = await app.request(`${path}?format=ndjson`);

    expect([document.statusCode, document.json().code]).toEqual([400, 'invalid_option']);
    expect(document.json().detail).toContain('format=ndjson');
    expect(lines.statusCode).toBe(200);
    expect(lines.body.split('\n')).toHaveLength(200 + 2);
  });
});
