import type { Clock } from '../../core/clock.ts';
import type { Random } from '../../core/random.ts';
import { CommandError } from '../command.ts';
import { backoffMs } from './pace.ts';

interface DeliveryErrorOptions extends ErrorOptions {
  /** Whether the delivery must not be retried. */
  readonly isFinal?: boolean;
  readonly retryAfterSeconds?: number | undefined;
}

/** Failed attempt. The message follows a name, for example “ended with exit code 1”. */
export class DeliveryError extends Error {
  readonly isFinal: boolean;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    { isFinal = false, retryAfterSeconds, ...options }: DeliveryErrorOptions = {},
  ) {
    super(message, options);
    this.isFinal = isFinal;
    this.retryAfterSeconds = retryAfterSeconds;
  }
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
  for (let failures = 0; ; failures += 1) {
    const error = await attempt(handler, message);
    if (error === null) {
      if (failures > 0) options.report(`${handler.name} succeeded after ${failures + 1} attempts.`);
      return true;
    }
    const waitMs = planRetry(handler, { error, failures: failures + 1 }, options);
    if (!(await sleep(waitMs, options))) return false;
  }
}

interface Failed {
  readonly error: DeliveryError;
  readonly failures: number;
}

/** Returns the wait in milliseconds. @throws CommandError if no attempts remain */
function planRetry<Message>(
  { name, attempts, maxWaitMs: maxMs }: Handler<Message>,
  { error, failures }: Failed,
  { random, report }: RetryOptions,
): number {
  if (error.isFinal || failures >= attempts) throw toFailure(name, failures, error);
  if (failures === 1) report(`${name} ${error.message}. Perch tries again.`);
  const { retryAfterSeconds } = error;
  return backoffMs({ failures, firstMs: firstWaitMs, maxMs, retryAfterSeconds }, random);
}

async function attempt<Message>(
  { send }: Handler<Message>,
  message: Message,
): Promise<DeliveryError | null> {
  try {
    await send(message);
    return null;
  } catch (error) {
    if (error instanceof DeliveryError) return error;
    throw error;
  }
}

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
