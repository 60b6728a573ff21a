import { expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { asAdmin, type TestApp, type TestAppOptions } from '../../support/build-app.ts';
import type { Instances } from '../../support/instances.ts';
import { isLongRun } from '../../support/long-run.ts';
import { readRateLimit } from '../../support/rate-limit.ts';

const remoteAddress = '192.0.2.7';

/** Times of one admitted request, in milliseconds. */
type Admitted = Readonly<{ sentMs: number; repliedMs: number }>;

/** Returns whether more than `limit` requests were certainly admitted within one window. */
function exceeds(admitted: readonly Admitted[], limit: number, windowMs: number): boolean {
  const sorted = admitted.toSorted((a, b) => a.repliedMs - b.repliedMs);
  return sorted.some(({ repliedMs }, at) => {
    const first = sorted[at - limit];
    if (first === undefined) return false;
    const earliest = Math.min(...sorted.slice(at - limit, at + 1).map(({ sentMs }) => sentMs));
    return repliedMs - earliest < windowMs;
  });
}

const searchAnew = (app: TestApp, word: string) =>
  app.request(`/api/v1/search?q=${word}`, { remoteAddress });

/** Starts `count` instances. */
export type Start = (count: number, options?: TestAppOptions) => Promise<Instances>;

/** Tests of reads, for several instances on any kind of engine. */
export function behaveAsOne(start: Start): void {
  const windowSeconds = isLongRun ? 60 : 3;
  const timeout = 180_000 + 3 * windowSeconds * 1000;
  it.each([2, 4])('count an allowance together (%i instances)', { timeout }, async (count) => {
    const env = {
      PERCH_PUBLIC_ALLOWANCE: '60',
      PERCH_ALLOWANCE_WINDOW_SECONDS: String(windowSeconds),
    };
    const { any } = await start(count, { env });
    const admitted: Admitted[] = [];
    const ask = async (number: number): Promise<void> => {
      await systemClock.sleep(Math.random() * 3 * windowSeconds * 1000);
      const sentMs = performance.now();
      const reply = await searchAnew(any(), `word${number}`);
      if (reply.statusCode !== 429) admitted.push({ sentMs, repliedMs: performance.now() });
      else expect(Number(reply.headers['retry-after'])).toBeLessThanOrEqual(windowSeconds);
    };

    await Promise.all(Array.from({ length: 400 }, (_, number) => ask(number)));

    // The last part of one window and the first part of the next one (docs/contract/reads.md).
    expect(exceeds(admitted, 2 * 60, windowSeconds * 1000)).toBe(false);
    expect(admitted.length).toBeGreaterThanOrEqual(60);
  });

  it('report the allowance that other instances have spent', async () => {
    const { apps } = await start(2, { env: { PERCH_PUBLIC_ALLOWANCE: '60' } });
    const [one, two] = apps as [TestApp, TestApp];
    for (let number = 0; number < 5; number += 1) await searchAnew(one, `word${number}`);

    const reply = await searchAnew(two, 'word0');

    expect(reply.statusCode).toBe(200);
    expect(readRateLimit(reply).remaining).toBe(55);
  });

  it('refuse a key at the next request after another instance has disabled it', async () => {
    const { apps, fake, any } = await start(4, { env: { PERCH_KEY_ALLOWANCE: '1000000' } });
    fake.addAccount('wren');
    const { id, headers } = await any().createKey();
    const tries = isLongRun ? 1000 : 100;

    for (let attempt = 0; attempt < tries; attempt += 1) {
      const enabled = attempt % 2 === 1;
      const changed = await any().server.inject({
        url: `/api/admin/keys/${id}`,
        method: 'PATCH',
        headers: { ...asAdmin, 'content-type': 'application/json' },
        payload: JSON.stringify({ enabled }),
      });
      expect(changed.statusCode).toBe(200);
      const replies = await Promise.all(
        apps.map((app) => app.server.inject({ url: '/api/v1/profiles/wren', headers })),
      );
      expect(replies.map(({ statusCode }) => statusCode)).toEqual(
        apps.map(() => (enabled ? 200 : 401)),
      );
    }
  });

  it('walk a list page by page at random instances, without gaps or repetitions', async () => {
    const { fake, any } = await start(4, { env: { PERCH_PUBLIC_ALLOWANCE: '1000000' } });
    fake.addAccount('wren');
    fake.addConnections('wren', { kind: 'followers', length: 2000 });
    const found: string[] = [];
    let cursor = '';

    do {
      const query = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const reply = await any().request(
        `/api/v1/profiles/wren/followers?format=json&limit=50${query}`,
      );
      expect(reply.statusCode).toBe(200);
      const page = reply.json();
      found.push(...page.users.map((user: { id: string }) => user.id));
      cursor = page.nextCursor ?? '';
    } while (cursor !== '');

    expect(new Set(found).size).toBe(found.length);
    expect(found).toHaveLength(2000);
  });

  it('make the upstream requests of one read for simultaneous misses', async () => {
    const { apps, fake } = await start(4, { env: { PERCH_PUBLIC_ALLOWANCE: '1000' } });
    fake.addAccount('wren');
    fake.addTimeline('wren', { length: 30 });
    const alone = await start(1);
    alone.fake.addAccount('wren');
    alone.fake.addTimeline('wren', { length: 30 });
    await alone.apps[0]?.request('/api/v1/profiles/wren');

    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, at) => apps[at % 4]?.request('/api/v1/profiles/wren')),
    );

    expect(new Set(replies.map((reply) => reply?.statusCode))).toEqual(new Set([200]));
    expect(new Set(replies.map((reply) => reply?.body)).size).toBe(1);
    expect(fake.requests.length).toBe(alone.fake.requests.length);
  });

  it('answer from the cache of another instance', async () => {
    const { apps, fake } = await start(2);
    const [one, two] = apps as [TestApp, TestApp];
    fake.addAccount('wren');
    const first = await one.request('/api/v1/profiles/wren');
    const requests = fake.requests.length;

    const second = await two.request('/api/v1/profiles/wren');

    expect(second.body).toBe(first.body);
    expect(fake.requests).toHaveLength(requests);
  });
}
