import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { upstream } from './listen.ts';

/** Secret of the receiver, from the README of the reference libraries. */
export const webhookSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

const message = z.object({
  type: z.literal('post.published'),
  timestamp: z.iso.datetime(),
  data: z.object({ id: z.string() }),
});

/** Request whose signature the published library has verified. */
export interface ReceivedWebhook {
  readonly webhookId: string;
  readonly postId: string;
}

/** Receiver of webhooks on loopback. It is closed at the end of the test. */
export async function startWebhookReceiver(
  answer: (response: ServerResponse, count: number) => void = (response) => void response.end(),
) {
  const received: ReceivedWebhook[] = [];
  const faults: unknown[] = [];
  const fake = await upstream(async (request, response) => {
    try {
      const { headers } = request;
      const named = {
        'webhook-id': String(headers['webhook-id']),
        'webhook-timestamp': String(headers['webhook-timestamp']),
        'webhook-signature': String(headers['webhook-signature']),
      };
      const body = new Webhook(webhookSecret).verify(await text(request), named);
      const webhookId = named['webhook-id'];
      received.push({ webhookId, postId: message.parse(body).data.id });
    } catch (error) {
      faults.push(error);
    }
    answer(response, received.length);
  });
  return { url: `${fake.url}/hooks/posts`, received, faults };
}
