import { createHmac } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import type { PostClient } from '../../core/http/post-client.ts';
import { parseUrl } from '../../core/http/url.ts';
import { withDeadline } from '../../core/scheduling/deadline.ts';
import { UsageError } from '../command.ts';
import { DeliveryError } from './delivery.ts';

/** Timeout in milliseconds for one request to a webhook, including the body of the response. */
const attemptMs = 20_000;
const maxReplyBytes = 65_536;

const secretPrefix = 'whsec_';

export interface WebhookOptions {
  readonly url: URL;
  /** Secret that signs the requests to the webhook, in the format `whsec_…`. */
  readonly secret: string;
  readonly client: PostClient;
  readonly clock: Clock;
}

/** Message to a webhook. `id` is the same for all attempts to send the message. */
export interface WebhookMessage {
  readonly id: string;
  readonly body: object;
}

/** Parses a URL. @throws UsageError unless it is http or https, and without credentials */
export function parseWebhookUrl(text: string): URL {
  const url = parseUrl(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new UsageError('--webhook must be an http:// or https:// URL.');
  }
  if (url.username + url.password !== '') {
    throw new UsageError(
      '--webhook must not contain a user name or password, because other users of this machine can read the command line.',
    );
  }
  return url;
}

/** Returns the signature headers (https://github.com/standard-webhooks/standard-webhooks). */
export function signWebhook(
  secret: string,
  { id, seconds, text }: { readonly id: string; readonly seconds: number; readonly text: string },
): Readonly<Record<string, string>> {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${text}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
}

/** Sends once. @throws DeliveryError unless the webhook responds with a 2xx status */
export async function sendWebhook(
  { url, secret, client, clock }: WebhookOptions,
  { id, body }: WebhookMessage,
): Promise<void> {
  const seconds = Math.floor(clock.now() / 1000);
  const headers = signWebhook(secret, { id, seconds, text: JSON.stringify(body) });
  const reply = await withDeadline(attemptMs, [], async (signal) => {
    const request = { body, headers, accept: '*/*', signal };
    const { chunks, ...head } = await client.post(url, request);
    let size = 0;
    for await (const chunk of chunks) {
      size += chunk.length;
      if (size > maxReplyBytes) break;
    }
    return head;
  }).catch((cause: unknown) => {
    const reason = cause instanceof Error && 'code' in cause ? ` (${cause.code})` : '';
    throw new DeliveryError(`could not be reached, or did not answer in time${reason}`, { cause });
  });
  const { status, retryAfterSeconds } = reply;
  if (status >= 200 && status < 300) return;
  const isFinal = status === 410;
  const reason = isFinal ? 'no longer exists (status 410)' : `answered with status ${status}`;
  throw new DeliveryError(reason, { isFinal, retryAfterSeconds });
}
