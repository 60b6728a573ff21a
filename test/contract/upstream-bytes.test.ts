import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { openHttpClient } from '../../src/lib/http/http-client.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { createHeavyTurns, createServerLoop } from '../../src/lib/scheduling/fair-queue.ts';
import { createFxTwitter } from '../../src/providers/fxtwitter/index.ts';
import { buildTestApp } from '../support/build-app.ts';
import { upstream } from '../support/listen.ts';

const mebibyte = 1_048_576;

/** An app that reads X from an upstream that sends `size` bytes of a body at once, and the rest on demand. */
async function setUp(size = 0.7 * mebibyte) {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let sent = 0;
  const fake = await upstream((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`{"filler":"${'x'.repeat(size)}`, () => {
      sent += 1;
    });
    void released.then(() => response.end('"}'));
  });
  const http = openHttpClient({
    connectTimeoutMs: 60_000, // a busy machine connects slowly
    attemptTimeoutMs: 60_000,
    maxBytes: 8 * mebibyte,
    userAgent: 'Perch-tests/1.0 (+https://perch.example/)',
    clock: systemClock,
    random: systemRandom,
    heavyTurns: createHeavyTurns(createServerLoop()),
  });
  const app = await buildTestApp({
    env: {
      PERCH_UPSTREAM_BYTES: String(4 * mebibyte),
      PERCH_UPSTREAM_BYTES_PER_ADDRESS: String(mebibyte),
      PERCH_READ_TIMEOUT_MS: '60000',
    },
    providers: [createFxTwitter({ http, apiUrl: fake.url, clock: systemClock })],
  });
  const read = (id: number, remoteAddress: string) =>
    app.request(`/wren/status/${id}?thread=off&replies=off`, { remoteAddress });
  return { app, http, read, release, sent: () => sent };
}

describe('bytes of upstream responses', () => {
  it('are limited per client address, without affecting other addresses', async () => {
    const { http, read, release, sent } = await setUp();
    const own = [read(1, '192.0.2.1'), read(2, '192.0.2.1')];
    await Promise.race(own); // the one whose bytes arrive last is refused
    const other = read(3, '198.51.100.1');
    await expect.poll(sent).toBe(3);
    release();

    const codes = (await Promise.all(own)).map((reply) => [reply.statusCode, reply.json().code]);
    // no post is in the filler
    expect(codes.toSorted()).toEqual([
      [502, 'upstream_error'],
      [503, 'overloaded'],
    ]);
    expect((await other).json().code).toBe('upstream_error');
    await http.close();
  });

  it('are an outage of the source if one read alone exceeds the limit', async () => {
    const { http, read, release } = await setUp(1.5 * mebibyte);
    release();

    const reply = await read(1, '192.0.2.1');

    expect([reply.statusCode, reply.headers['retry-after']]).toEqual([503, '30']);
    expect(reply.json()).toMatchObject({
      code: 'upstream_unavailable',
      detail: expect.stringContaining('sends more data for this read'),
    });
    await http.close();
  });

  it('are released when the read has ended', async () => {
    const { http, read, release } = await setUp();
    release();

    for (let id = 1; id < 6; id += 1) {
      expect((await read(id, '192.0.2.1')).json().code).toBe('upstream_error');
    }
    await http.close();
  });
});
