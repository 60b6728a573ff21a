import type { Clock } from '../../lib/clock.ts';
import { Problem } from '../../lib/problem.ts';
import type { Random } from '../../lib/random.ts';
import type { Reader } from '../../reads/run.ts';
import { CommandError, type ExitCode, exitCodes } from '../command.ts';
import { toCommandError } from '../reading/open-reading.ts';
import { sleep } from './delivery.ts';
import { adaptiveIntervalMs, backoffMs, maxAdaptiveMs } from './pace.ts';
import {
  type Item,
  maxItems,
  NotLiveError,
  type Poll,
  pollAgain,
  pollFirst,
  remember,
  type Start,
} from './poll.ts';
import type { State } from './state-file.ts';
import type { Target } from './targets.ts';

/** List to watch. `key` identifies the list in the stored state of `perch watch`. */
export interface KeyedTarget {
  readonly target: Target;
  readonly key: string;
}

export interface WatchOptions {
  readonly targets: readonly KeyedTarget[];
  readonly start: Start;
  /** Fixed interval between two polls; `null` to adapt it to the list. */
  readonly everyMs: number | null;
  /** Minimum interval between two polls of a list, used instead of a shorter `everyMs`. */
  readonly minIntervalMs: number;
  readonly isOnce: boolean;
  readonly state: State;
  readonly reader: Reader;
  /** Returns `false` if the watch was stopped or the output closed before it was complete. */
  readonly deliver: (item: Item) => Promise<boolean>;
  readonly clock: Clock;
  readonly random: Random;
  /** Signal that ends the watch after the current delivery. */
  readonly stop: AbortSignal;
  readonly report: (text: string) => void;
}

interface List extends KeyedTarget {
  dueMs: number;
  /** Milliseconds between the last two polls; 0 before the first one. */
  intervalMs: number;
  failures: number;
  /** Code of the last reported failure to read the list; `null` if the latest poll succeeded. */
  fault: string | null;
  /** Whether a read of the list has succeeded in this run. */
  wasRead: boolean;
}

/**
 * Delivers new posts until `stop` is aborted or `deliver` returns `false`.
 * @throws CommandError if a list does not exist, or if a post cannot be delivered
 */
export async function watch(options: WatchOptions): Promise<ExitCode> {
  const { targets, clock, isOnce } = options;
  const nowMs = clock.now();
  const lists = targets.map((one): List => {
    return { ...one, dueMs: nowMs, intervalMs: 0, failures: 0, fault: null, wasRead: false };
  });
  for (;;) {
    const list = lists.reduce((first, one) => (one.dueMs < first.dueMs ? one : first));
    if (isOnce && list.intervalMs > 0) break;
    // The clock can be set back during the wait.
    const waitMs = Math.min(Math.max(0, list.dueMs - clock.now()), list.intervalMs);
    if (!(await sleep(waitMs, options))) break;
    const next = await visit(list, options);
    if (next === 'end') break;
    schedule(list, next, options);
  }
  const isIncomplete = isOnce && lists.some(({ fault }) => fault !== null);
  return isIncomplete ? exitCodes.upstream : exitCodes.ok;
}

/** Failure to read a list that may resolve by itself, such as an outage of the platform. */
interface TemporaryFault {
  /** Code of a problem, or `not_live`. */
  readonly fault: string;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * Returns `end` if the watch was stopped or the output was closed.
 * @throws CommandError if a post cannot be delivered, or if no read of the list has succeeded in
 *   this run and the error is permanent, such as an unknown account
 */
async function visit(list: List, options: WatchOptions): Promise<Poll | TemporaryFault | 'end'> {
  const poll = await read(list, options);
  if (options.stop.aborted) return 'end';
  reportChange(list, poll, options);
  if ('fault' in poll) return poll;
  list.wasRead = true;
  if (poll.isTruncated) {
    options.report(
      `${list.target.name} has more than ${maxItems} new posts. Perch skips the oldest of them.`,
    );
  }
  return (await deliverNewItems(list, poll, options)) ? poll : 'end';
}

async function read(list: List, options: WatchOptions): Promise<Poll | TemporaryFault> {
  const { reader, state, start, clock } = options;
  const memory = state.memories.get(list.key);
  try {
    return memory === undefined
      ? await pollFirst(list.target, reader, { start, nowMs: clock.now() })
      : await pollAgain(list.target, reader, memory);
  } catch (error) {
    return toFault(error, list);
  }
}

/**
 * Converts NotLiveError, a Problem with status 429 or 5xx and, once the list was read in this run,
 * any Problem.
 * @throws CommandError for a Problem that is not temporary; other errors unchanged
 */
function toFault(error: unknown, { target, wasRead }: List): TemporaryFault {
  if (error instanceof NotLiveError) return { fault: 'not_live', message: error.message };
  if (!(error instanceof Problem)) throw error;
  const { code: fault, status, message, retryAfterSeconds } = error;
  if (wasRead || status >= 500 || status === 429) return { fault, message, retryAfterSeconds };
  const { exit, message: advice } = toCommandError(error);
  const kind = exit === exitCodes.notFound ? 'notFound' : 'usage';
  throw new CommandError(kind, `${target.name}: ${advice}`, { cause: error });
}

function reportChange(
  list: List,
  poll: Poll | TemporaryFault,
  { report, isOnce }: WatchOptions,
): void {
  const { name } = list.target;
  const fault = 'fault' in poll ? poll.fault : null;
  if ('fault' in poll && fault !== list.fault) {
    report(`${name} cannot be read. ${poll.message}${isOnce ? '' : ' Perch tries again.'}`);
  }
  if (fault === null && list.fault !== null) report(`${name} can be read again.`);
  list.fault = fault;
}

async function deliverNewItems(list: List, { newItems, memory }: Poll, options: WatchOptions) {
  const { state, stop, deliver } = options;
  const isFirst = !state.memories.has(list.key);
  state.memories.set(list.key, memory);
  if (isFirst) await state.save();
  for (const item of newItems) {
    if (stop.aborted) return false;
    if (!isKnown(item, options) && !(await deliver(item))) return false;
    state.memories.set(list.key, remember(state.memories.get(list.key) ?? memory, [item]));
    await state.save();
  }
  return true;
}

function isKnown({ key }: Item, { targets, state }: WatchOptions): boolean {
  return targets.some((one) => state.memories.get(one.key)?.seen.has(key) === true);
}

const firstBackoffMs = 15_000;

function schedule(list: List, last: Poll | TemporaryFault, options: WatchOptions): void {
  const { everyMs, minIntervalMs, clock, random } = options;
  const nowMs = clock.now();
  if ('fault' in last) {
    list.failures += 1;
    const { failures } = list;
    const { retryAfterSeconds } = last;
    const firstMs = Math.max(minIntervalMs, Math.min(everyMs ?? firstBackoffMs, firstBackoffMs));
    const backoff = { failures, firstMs, maxMs: maxAdaptiveMs, retryAfterSeconds };
    list.intervalMs = backoffMs(backoff, random);
  } else {
    list.failures = 0;
    const jitter = 1 + 0.1 * random.fraction();
    const ms = everyMs ?? adaptiveIntervalMs(last.items, nowMs) * jitter;
    list.intervalMs = Math.max(minIntervalMs, Math.ceil(ms));
  }
  list.dueMs = nowMs + list.intervalMs;
}
