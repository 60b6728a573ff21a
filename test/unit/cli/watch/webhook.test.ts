import type { ServerResponse } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { sendWebhook, signWebhook } from '../../../../src/cli/watch/delivery.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { openPostClient } from '../../../../src/lib/http/post-client.ts';
import { startWebhookReceiver, webhookSecret } from '../../../support/webhook-receiver.ts';

it('signs the test message of the reference libraries as they do', () => {
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    seconds: 1_614_265_330,
    text: '{"test": 2432232314}',
  };

  expect(signWebhook(webhookSecret, message)).toEqual({
    'webhook-id': message.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

async function send(answer?: (response: ServerResponse) => void) {
  const receiver = await startWebhookReceiver(answer);
  const clock = systemClock;
  const client = openPostClient({ connectTimeoutMs: 2000, userAgent: 'Perch/test', clock });
  onTestFinished(() => client.close());
  const options = { url: new URL(receiver.url), secret: webhookSecret, client, clock };
  const data = { id: '20', text: 'Grüße 🪶 "quoted" \u2028' };
  const body = { type: 'post.published', timestamp: '2026-03-04T09:12:00Z', data };
  const failure = await sendWebhook(options, { id: 'post1', body });
  return { ...receiver, failure };
}

it('signs the bytes that it sends', async () => {
  expect(await send()).toMatchObject({
    received: [{ webhookId: 'post1', postId: '20' }],
    faults: [],
    failure: null,
  });
});

it('reads only the beginning of an endless response', async () => {
  const endless = (response: ServerResponse) => {
    response.writeHead(200);
    const fill = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', fill).on('error', () => {});
    fill();
  };

  expect(await send(endless)).toMatchObject({ faults: [], failure: null });
});

it.each([
  [500, { reason: 'answered with status 500', retryAfterSeconds: 7 }],
  [302, { reason: 'answered with status 302', retryAfterSeconds: 7 }],
  [404, { reason: 'answered with status 404', retryAfterSeconds: 7 }],
  [410, { reason: 'no longer exists (status 410)', isFinal: true }],
])('fails with status %i', async (code, failure) => {
  const answer = (response: ServerResponse) => {
    response.writeHead(code, { location: '/', 'retry-after': '7' }).end();
  };

  expect((await send(answer)).failure).toEqual(failure);
});

it('fails if the receiver resets the connection', async () => {
  const { failure } = await send((response) => response.destroy());

  expect(failure?.reason).toContain('could not be reached');
});
