import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../../../src/core/http/http-client.ts';
import { withRateLimit } from '../../../src/providers/rate-limit.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const url = new URL('http://upstream.example/');
const { signal } = new AbortController();

function setUp(perMinute: number, maxWaitMs: number) {
  const clock = createManualClock();
  const sentAt: number[] = [];
  const start = clock.now();
  const http = withRateLimit(
    {
      get: async () => {
        sentAt.push(clock.now() - start);
        return {} as HttpAnswer; // nobody looks at it here
      },
      close: async () => undefined,
    },
    { perMinute: () => perMinute, maxWaitMs, clock },
  );
  return { clock, http, sentAt };
}

describe('the rate limit of an upstream', () => {
  it('sends at most its number of requests in any 60 seconds, and the others in order', async () => {
    const { clock, http, sentAt } = setUp(3, 120_000);

    const requests = Array.from({ length: 7 }, () => http.get(url, { signal }));
    await clock.advance(0);
    expect(sentAt).toEqual([0, 0, 0]);
    await clock.advance(59_999);
    expect(sentAt).toHaveLength(3);
    await clock.advance(1);
    expect(sentAt).toHaveLength(6);
    await clock.advance(60_000);

    await Promise.all(requests);
    expect(sentAt).toEqual([0, 0, 0, 60_000, 60_000, 60_000, 120_000]);
  });

  it('throws `throttled` with the wait if the wait would be too long', async () => {
    const { clock, http } = setUp(1, 9000);
    await http.get(url, { signal });
    await clock.advance(20_000);

    await expect(http.get(url, { signal })).rejects.toMatchObject({
      kind: 'throttled',
      retryAfterSeconds: 40,
    });
  });

  it('waits no longer than its 60 seconds if the clock is set back', async () => {
    const { clock, http } = setUp(1, 9000);
    await http.get(url, { signal });
    await clock.advance(20_000);
    await http.get(url, { signal }).catch(() => undefined);

    await clock.advance(-3_600_000);

    const throttled = { kind: 'throttled', retryAfterSeconds: 40 };
    await expect(http.get(url, { signal })).rejects.toMatchObject(throttled);
    await clock.advance(40_000);
    await expect(http.get(url, { signal })).resolves.toBeDefined();
  });

  it('lets a caller leave the queue', async () => {
    const { http, sentAt } = setUp(1, 120_000);
    await http.get(url, { signal });
    const leaving = new AbortController();

    const waiting = http.get(url, { signal: leaving.signal });
    leaving.abort();

    await expect(waiting).rejects.toMatchObject({ kind: 'aborted' });
    expect(sentAt).toHaveLength(1);
  });

  it('leaves half of the turns to others if one client requests all of them', async () => {
    const { http, sentAt } = setUp(1000, 9000);
    const ask = (address: string) =>
      http.get(url, { signal, client: { address, network: null } }).catch((error) => error);

    const greedy = await Promise.all(Array.from({ length: 2000 }, () => ask('192.0.2.1')));
    const modest = await Promise.all(Array.from({ length: 100 }, () => ask('192.0.2.2')));

    expect(sentAt).toHaveLength(500 + 100);
    expect(greedy.at(-1)).toMatchObject({
      kind: 'throttled',
      isProviderWide: false,
      retryAfterSeconds: 60,
    });
    expect(modest.filter((answer) => answer instanceof Error)).toEqual([]);
  });

  it('guarantees a client its first hundred turns', async () => {
    const { http, sentAt } = setUp(150, 9000);
    const ask = (address: string) =>
      http.get(url, { signal, client: { address, network: null } }).catch((error) => error);

    await Promise.all(Array.from({ length: 200 }, () => ask('192.0.2.1')));

    expect(sentAt).toHaveLength(100);
  });

  it('reports when a client is within its fair share again', async () => {
    const { clock, http, sentAt } = setUp(400, 9000);
    const client = { address: 'a:b:c:d', network: 'a:b:c/48' };
    const ask = () => http.get(url, { signal, client }).catch((error) => error);
    for (let second = 0; second < 20; second += 1) {
      await Promise.all(Array.from({ length: 10 }, ask));
      await clock.advance(1000);
    }
    const before = sentAt.length;
    const refused = await ask();

    await clock.advance(refused.retryAfterSeconds * 1000);
    await ask();

    expect([before, refused.retryAfterSeconds]).toEqual([200, 40]);
    expect(sentAt.at(-1)).toBe(60_000);
  });

  it('makes background requests of one client wait for its fair share', async () => {
    const { clock, http, sentAt } = setUp(400, 9000);
    const context = { signal, client: { address: '192.0.2.1', network: null }, isBackground: true };
    const requests = Array.from({ length: 250 }, () => http.get(url, context));

    await clock.advance(0);
    expect(sentAt).toHaveLength(200);
    await clock.advance(200_000);
    await Promise.all(requests);

    expect(sentAt).toHaveLength(250);
  });
});
