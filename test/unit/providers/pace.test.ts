import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../../../src/core/http-client.ts';
import { withPace } from '../../../src/providers/pace.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const url = new URL('http://upstream.example/');
const { signal } = new AbortController();

function setUp(perMinute: number, maxWaitMs: number) {
  const clock = createManualClock();
  const sentAt: number[] = [];
  const start = clock.now();
  const http = withPace(
    {
      get: async () => {
        sentAt.push(clock.now() - start);
        return {} as HttpAnswer; // nobody looks at it here
      },
      close: async () => undefined,
    },
    { perMinute, maxWaitMs, clock },
  );
  return { clock, http, sentAt };
}

describe('the pace of an upstream', () => {
  it('sends no more than its number in any 60 seconds, and the rest in their turn', async () => {
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

  it('says throttled, and how long, when the turn would come too late', async () => {
    const { clock, http } = setUp(1, 9000);
    await http.get(url, { signal });
    await clock.advance(20_000);

    await expect(http.get(url, { signal })).rejects.toMatchObject({
      kind: 'throttled',
      retryAfterSeconds: 40,
    });
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
});
