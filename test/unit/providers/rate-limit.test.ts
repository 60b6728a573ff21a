import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../../../src/lib/http/http-client.ts';
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

  it('lets background requests wait, and those in the foreground start before them', async () => {
    const { clock, http, sentAt } = setUp(2, 120_000);
    const order: string[] = [];
    const ask = (name: string, isBackground: boolean) =>
      http.get(url, { signal, isBackground }).then(() => order.push(name));
    const requests = ['b1', 'b2', 'b3', 'b4'].map((name) => ask(name, true));
    await clock.advance(0);
    await clock.advance(30_000);
    requests.push(ask('f1', false));

    await clock.advance(30_000);
    expect(order.toSorted()).toEqual(['b1', 'b2', 'b3', 'f1']);
    await clock.advance(60_000);
    await Promise.all(requests);

    expect(sentAt).toEqual([0, 0, 60_000, 60_000, 120_000]);
  });
});
