import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import type { Clock } from '../../lib/clock.ts';
import type { PostClient } from '../../lib/http/post-client.ts';
import { parseUrl } from '../../lib/http/url.ts';
import type { Random } from '../../lib/random.ts';
import { withDeadline } from '../../lib/scheduling/deadline.ts';
import { CommandError, UsageError } from '../command.ts';
import { backoffMs, formatDuration } from './pace.ts';

/** Failed attempt. The message follows a name, for example “ended with exit code 1”. */
class DeliveryError extends Error {
  /** Whether the delivery must not be retried. */
  isFinal = false;
  retryAfterSeconds: number | undefined;
}

export interface Handler<Message> {
  /** Name of the command or webhook in messages to the user, such as `The webhook`. */
  readonly name: string;
  readonly attempts: number;
  readonly maxWaitMs: number;
  /** Tries once to deliver a message. @throws DeliveryError if the attempt fails */
  send(message: Message): Promise<void>;
}

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Stops the retries. A wait between two attempts ends immediately. */
  readonly stop: AbortSignal;
  /** Prints a line of text for the user. */
  readonly report: (text: string) => void;
}

const firstWaitMs = 1000;

/** Retries failures. `false`: `stop` was aborted first. @throws CommandError if all fail */
export async function deliver<Message>(
  handler: Handler<Message>,
  message: Message,
  options: RetryOptions,
): Promise<boolean> {
  for (let failures = 1; ; failures += 1) {
    const error = await attempt(handler.send(message));
    if (error !== null) {
      if (await waitToRetry({ ...handler, error, failures }, options)) continue;
      return false;
    }
    if (failures > 1) options.report(`${handler.name} succeeded after ${failures} attempts.`);
    return true;
  }
}

type Failed = Readonly<{ error: DeliveryError; failures: number }> &
  Pick<Handler<never>, 'name' | 'attempts' | 'maxWaitMs'>;

async function waitToRetry(
  { name, attempts, maxWaitMs: maxMs, error, failures }: Failed,
  options: RetryOptions,
): Promise<boolean> {
  const { isFinal, retryAfterSeconds } = error;
  if (isFinal || failures >= attempts) throw toFailure(name, failures, error);
  if (failures === 1) options.report(`${name} ${error.message}. Perch tries again.`);
  const backoff = { failures, firstMs: firstWaitMs, maxMs, retryAfterSeconds };
  return sleep(backoffMs(backoff, options.random), options);
}

const attempt = (sent: Promise<void>): Promise<DeliveryError | null> =>
  sent.then(
    () => null,
    (error) => {
      if (error instanceof DeliveryError) return error;
      throw error;
    },
  );

function toFailure(name: string, failures: number, cause: DeliveryError): CommandError {
  const times = failures === 1 ? '' : ` This was attempt ${failures}.`;
  const next = 'The post counts as not delivered. With --state, the next run delivers it again.';
  return new CommandError('upstream', `${name} ${cause.message}.${times}\n${next}`, { cause });
}

/** Waits `ms` milliseconds. Returns `false` if `stop` is aborted during the wait. */
export async function sleep(
  ms: number,
  { clock, stop }: Pick<RetryOptions, 'clock' | 'stop'>,
): Promise<boolean> {
  try {
    await clock.sleep(ms, stop);
    return true;
  } catch (error) {
    if (stop.aborted) return false;
    throw error;
  }
}

/** Time in milliseconds between SIGTERM and SIGKILL for a command that exceeds the timeout. */
const graceMs = 5000;

/**
 * Runs a command in the shell. Its output goes to standard error. After `timeoutMs`, kills it and
 * all processes that it started.
 * @throws DeliveryError if the command fails or takes too long
 */
export async function runCommandLine(
  command: string,
  { input, timeoutMs }: { readonly input: string; readonly timeoutMs: number },
): Promise<void> {
  const child = spawn(command, { shell: true, detached: true, stdio: ['pipe', 2, 2] });
  const kill = (name: NodeJS.Signals) => killGroup(child, name);
  const killAtExit = () => kill('SIGKILL');
  process.on('exit', killAtExit);
  let isLate = false;
  const timers = [
    setTimeout(() => {
      isLate = true;
      kill('SIGTERM');
      timers.push(setTimeout(kill, graceMs, 'SIGKILL'));
    }, timeoutMs),
  ];
  try {
    const fault = await waitForExit(child, input);
    if (isLate) {
      kill('SIGKILL'); // processes that the command started can outlive it
      throw new DeliveryError(`took longer than ${formatDuration(timeoutMs)}`);
    }
    if (fault !== null) throw new DeliveryError(fault);
  } finally {
    process.off('exit', killAtExit);
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

function killGroup({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // The processes have ended.
  }
}

/** Timeout in milliseconds for one request to a webhook, including the body of the response. */
const attemptMs = 20_000;
const maxReplyBytes = 65_536;

const secretPrefix = 'whsec_';

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
  throw Object.assign(new DeliveryError(reason), { isFinal, retryAfterSeconds });
}
