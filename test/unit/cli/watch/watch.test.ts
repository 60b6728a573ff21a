import { describe, expect, it } from 'vitest';
import type { Item } from '../../../../src/cli/watch/poll.ts';
import { createState } from '../../../../src/cli/watch/state-file.ts';
import { type WatchOptions, watch } from '../../../../src/cli/watch/watch.ts';
import { Problem } from '../../../../src/lib/problem.ts';
import { reads } from '../../../../src/reads/index.ts';
import { createListReader } from '../../../support/list-reader.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { ada, status } from '../../../support/render-posts.ts';

const noJitter = { fraction: () => 0, bytes: (count: number) => Buffer.alloc(count) };

async function startWatch(options: Partial<WatchOptions> = {}) {
  const clock = createManualClock();
  const stopping = new AbortController();
  const posts = Array.from({ length: 30 }, (_, index) => status(30 - index, ada, 'Fog.'));
  const { list, reader } = createListReader(posts);
  const delivered: string[] = [];
  const reports: string[] = [];
  const target = { name: '@ada.example', read: reads.getProfile, parameters: {} };
  const ended = watch({
    targets: [{ target, key: 'ada' }],
    start: { kind: 'backlog', count: 0 },
    everyMs: 60_000,
    minIntervalMs: 1000,
    isOnce: false,
    state: createState(),
    reader,
    deliver: async ({ post }: Item) => {
      delivered.push(post.id);
      return true;
    },
    clock,
    random: noJitter,
    stop: stopping.signal,
    report: (text) => void reports.push(text),
    ...options,
  });
  ended.catch(() => {}); // awaited by the test
  await clock.advance(0);
  return {
    list,
    delivered,
    reports,
    ended,
    stop: () => stopping.abort(),
    wait: (seconds: number) => clock.advance(seconds * 1000),
    publish: () => {
      list.posts = [status(list.posts.length + 1, ada, 'Fog.'), ...list.posts];
    },
  };
}

const outage = () => new Problem('upstream_unavailable', { detail: 'X is down.' });

describe('a watch', () => {
  it('reads the list after each interval', async () => {
    const { list, wait, publish, delivered, stop, ended } = await startWatch();
    expect(list.pages).toBe(1);
    publish();

    await wait(59);
    expect(delivered).toEqual([]);
    await wait(1);
    expect(delivered).toEqual(['31']);
    stop();
    expect(await ended).toBe(0);
  });

  it('reports an outage once, waits longer each time, and continues without a gap', async () => {
    const { list, wait, publish, delivered, reports } = await startWatch();
    list.error = new Problem('upstream_error', { detail: 'X is down.' });
    await wait(60);
    publish();
    for (const seconds of [15, 30, 60, 120]) {
      const before = list.pages;
      await wait(seconds - 1);
      expect(list.pages).toBe(before);
      await wait(1);
      expect(list.pages).toBe(before + 1);
    }
    publish();
    list.error = null;
    await wait(240);

    expect(delivered).toEqual(['31', '32']);
    expect(reports).toEqual([
      '@ada.example cannot be read. X is down. Perch tries again.',
      '@ada.example can be read again.',
    ]);
  });

  it('waits as long as the platform requests', async () => {
    const { list, wait } = await startWatch();
    list.error = new Problem('rate_limited', { detail: 'Wait.', retryAfterSeconds: 500 });
    await wait(60);
    const before = list.pages;

    await wait(499);
    expect(list.pages).toBe(before);
    await wait(1);
    expect(list.pages).toBe(before + 1);
  });

  it('treats results that are not live as an outage', async () => {
    const { list, wait, reports, delivered } = await startWatch();
    list.degraded = true;
    list.posts = [status(99, ada, 'Imported.'), ...list.posts];

    await wait(60);

    expect(delivered).toEqual([]);
    expect(reports).toEqual([
      '@ada.example cannot be read. The platform could not be read. Perch tries again.',
    ]);
  });

  it('continues if an account disappears and comes back', async () => {
    const { list, wait, publish, delivered, reports } = await startWatch();
    list.error = new Problem('not_found', { detail: 'There is no such account.' });
    await wait(60);
    list.error = null;
    publish();
    await wait(15);

    expect(delivered).toEqual(['31']);
    expect(reports).toHaveLength(2);
  });

  it('delivers the failed post and the later ones in the next run', async () => {
    const state = createState();
    const failing = await startWatch({ state, deliver: async () => false });
    failing.publish();
    failing.publish();
    await failing.wait(60);
    expect(await failing.ended).toBe(0);

    const { list, delivered, wait } = await startWatch({ state });
    list.posts = failing.list.posts;
    await wait(60);

    expect(delivered).toEqual(['31', '32']);
  });

  it('ends after the current delivery', async () => {
    const stopping = new AbortController();
    const delivered: string[] = [];
    const { publish, wait, ended } = await startWatch({
      stop: stopping.signal,
      deliver: async ({ post }) => {
        stopping.abort();
        delivered.push(post.id);
        return true;
      },
    });
    publish();
    publish();

    await wait(60);

    expect(await ended).toBe(0);
    expect(delivered).toEqual(['31']);
  });

  it('fails for an account that does not exist, and waits during an outage, at the start', async () => {
    const { list } = createListReader([]);
    const missing = createListReader([]);
    missing.list.error = new Problem('not_found', { detail: 'There is no such account.' });
    const { ended } = await startWatch({ reader: missing.reader });
    await expect(ended).rejects.toMatchObject({ exit: 1 });

    const down = createListReader(list.posts);
    down.list.error = outage();
    const { reports, stop, ended: stopped } = await startWatch({ reader: down.reader });
    stop();

    expect(reports).toEqual(['@ada.example cannot be read. X is down. Perch tries again.']);
    expect(await stopped).toBe(0);
  });
});
