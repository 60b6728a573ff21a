import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { PostClient } from '../../lib/http/post-client.ts';
import { parseUrl } from '../../lib/http/url.ts';
import type { Random } from '../../lib/random.ts';
import { withDeadline } from '../../lib/scheduling/deadline.ts';
import { CommandError, UsageError } from '../command.ts';
import { backoffMs, formatDuration } from './pace.ts';
import type { Item } from './poll.ts';

/** Failed attempt to deliver a post. */
interface Failure {
  /** Reason that follows a name, for example “ended with exit code 1”. */
  readonly reason: string;
  /** Whether the delivery must not be retried. */
  readonly isFinal?: boolean;
  readonly retryAfterSeconds?: number | undefined;
}

export interface Handler {
  /** Name of the command or webhook in messages to the user, such as `The webhook`. */
  readonly name: string;
  readonly attempts: number;
  readonly maxWaitMs: number;
  /** Tries once to deliver a post. Returns `null` if the attempt succeeds. */
  send(item: Item): Promise<Failure | null>;
}

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Stops the retries. A wait between two attempts ends immediately. */
  readonly stop: AbortSignal;
  /** Prints a line of text for the user. */
  readonly report: (text: string) => void;
}

/** Retries failures. `false`: `stop` was aborted first. @throws CommandError if all fail */
export async function deliver(
  handler: Handler,
  item: Item,
  options: RetryOptions,
): Promise<boolean> {
  for (let failures = 0; ; failures += 1) {
    const failure = await handler.send(item);
    if (failure !== null) {
      if (await waitToRetry(handler, { ...failure, failures: failures + 1 }, options)) continue;
      return false;
    }
    if (failures > 0) options.report(`${handler.name} succeeded after ${failures + 1} attempts.`);
    return true;
  }
}

async function waitToRetry(
  { name, attempts, maxWaitMs: maxMs }: Handler,
  { reason, isFinal, retryAfterSeconds, failures }: Failure & { readonly failures: number },
  options: RetryOptions,
): Promise<boolean> {
  if (isFinal === true || failures >= attempts) {
    const times = failures === 1 ? '' : ` This was attempt ${failures}.`;
    const next = 'The post counts as not delivered. With --state, the next run delivers it again.';
    throw new CommandError('upstream', `${name} ${reason}.${times}\n${next}`);
  }
  if (failures === 1) options.report(`${name} ${reason}. Perch tries again.`);
  const backoff = { failures, firstMs: 1000, maxMs, retryAfterSeconds };
  return sleep(backoffMs(backoff, options.random), options);
}

/** Waits `ms` milliseconds. Returns `false` if `stop` is aborted during the wait. */
export async function sleep(
  ms: number,
  { clock, stop }: Pick<RetryOptions, 'clock' | 'stop'>,
): Promise<boolean> {
  await clock.sleep(ms, stop).catch((error) => {
    if (!stop.aborted) throw error;
  });
  return !stop.aborted;
}

/** Time in milliseconds between SIGTERM and SIGKILL for a command that exceeds the timeout. */
const graceMs = 5000;

/**
 * Runs a command in the shell. Its output goes to standard error. After `timeoutMs`, ends it and
 * all processes that it started.
 */
export async function runCommandLine(
  command: string,
  { input, timeoutMs }: { readonly input: string; readonly timeoutMs: number },
): Promise<Failure | null> {
  const child = spawn(command, { shell: true, detached: true, stdio: ['pipe', 2, 2] });
  const kill = () => signalGroup(child, 'SIGKILL');
  process.on('exit', kill);
  let isLate = false;
  const end = () => {
    isLate = true;
    signalGroup(child, 'SIGTERM');
    timers.push(setTimeout(kill, graceMs));
  };
  const timers = [setTimeout(end, timeoutMs)];
  try {
    const reason = await waitForExit(child, input);
    if (isLate) {
      kill(); // processes that the command started can outlive it
      return { reason: `took longer than ${formatDuration(timeoutMs)}` };
    }
    return reason === null ? null : { reason };
  } finally {
    process.off('exit', kill);
    for (const timer of timers) clearTimeout(timer);
  }
}

function waitForExit(child: ChildProcess, input: string): Promise<string | null> {
  return new Promise((resolve) => {
    child.on('error', ({ message }) => resolve(`could not be started (${message})`));
    child.on('exit', (code, signal) => {
      if (code === 0) resolve(null);
      else resolve(code === null ? `was ended by ${signal}` : `ended with exit code ${code}`);
    });
    // A command that does not read its input closes the pipe.
    child.stdin?.on('error', () => {}).end(input);
  });
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The processes have ended.
  }
}

/** Timeout in milliseconds for one request to a webhook, including the body of the response. */
const attemptMs = 20_000;
const maxReplyBytes = 65_536;

interface WebhookOptions {
  readonly url: URL;
  /** Secret that signs the requests to the webhook, in the format `whsec_…`. */
  readonly secret: string;
  readonly client: PostClient;
  readonly clock: Clock;
}

/** Message to a webhook. `id` is the same for all attempts to send the message. */
interface WebhookMessage {
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
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${text}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `v1,${signature}`,
  };
}

/** Sends once. Returns `null` if the webhook responds with a 2xx status. */
export async function sendWebhook(
  { url, secret, client, clock }: WebhookOptions,
  { id, body }: WebhookMessage,
): Promise<Failure | null> {
  const seconds = Math.floor(clock.now() / 1000);
  const headers = signWebhook(secret, { id, seconds, text: JSON.stringify(body) });
  try {
    return await withDeadline(attemptMs, [], async (signal) => {
      const request = { body, headers, accept: '*/*', signal };
      const { chunks, status, retryAfterSeconds } = await client.post(url, request);
      let size = 0;
      for await (const chunk of chunks) {
        size += chunk.length;
        if (size > maxReplyBytes) break;
      }
      if (status >= 200 && status < 300) return null;
      if (status === 410) return { reason: 'no longer exists (status 410)', isFinal: true };
      return { reason: `answered with status ${status}`, retryAfterSeconds };
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    return { reason: `could not be reached, or did not answer in time${code}` };
  }
}
