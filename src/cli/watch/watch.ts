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
    if (!(await sleep(waitMs, options)) || !(await visit(list, options))) break;
    list.dueMs = clock.now() + list.intervalMs;
  }
  const isIncomplete = isOnce && lists.some(({ fault }) => fault !== null);
  return isIncomplete ? exitCodes.upstream : exitCodes.ok;
}

/** Polls a list and sets its next interval. Returns `false` if the watch must end. */
async function visit(list: List, options: WatchOptions): Promise<boolean> {
  const { stop, report, clock, random, everyMs, minIntervalMs } = options;
  const { name } = list.target;
  let poll: Poll;
  try {
    poll = await read(list, options);
  } catch (error) {
    if (!stop.aborted) postpone(list, error, options);
    return !stop.aborted;
  }
  if (stop.aborted) return false;
  if (list.fault !== null) report(`${name} can be read again.`);
  Object.assign(list, { failures: 0, fault: null, wasRead: true });
  if (poll.isTruncated) {
    report(`${name} has more than ${maxItems} new posts. Perch skips the oldest of them.`);
  }
  if (!(await deliverNewItems(list, poll, options))) return false;
  const jitter = 1 + 0.1 * random.fraction();
  const ms = everyMs ?? adaptiveIntervalMs(poll.items, clock.now()) * jitter;
  list.intervalMs = Math.max(minIntervalMs, Math.ceil(ms));
  return true;
}

function read({ key, target }: List, { reader, state, start, clock }: WatchOptions): Promise<Poll> {
  const memory = state.memories.get(key);
  return memory === undefined
    ? pollFirst(target, reader, { start, nowMs: clock.now() })
    : pollAgain(target, reader, memory);
}

const firstBackoffMs = 15_000;

/**
 * Reports a failure to read a list, unless the previous one was the same, and sets the interval.
 * @throws CommandError if the failure is permanent, such as an unknown account, and no read of the
 *   list has succeeded in this run
 */
function postpone(list: List, error: unknown, options: WatchOptions): void {
  const { report, isOnce, everyMs, minIntervalMs, random } = options;
  const { target, wasRead } = list;
  if (!(error instanceof Problem)) throw error;
  const { code, status, message, retryAfterSeconds } = error;
  if (!wasRead && status < 500 && status !== 429) {
    const { exit, message: advice } = toCommandError(error);
    const kind = exit === exitCodes.notFound ? 'notFound' : 'usage';
    throw new CommandError(kind, `${target.name}: ${advice}`, { cause: error });
  }
  if (code !== list.fault) {
    report(`${target.name} cannot be read. ${message}${isOnce ? '' : ' Perch tries again.'}`);
  }
  list.fault = code;
  list.failures += 1;
  const firstMs = Math.max(minIntervalMs, Math.min(everyMs ?? firstBackoffMs, firstBackoffMs));
  const { failures } = list;
  const backoff = { failures, firstMs, maxMs: maxAdaptiveMs, retryAfterSeconds };
  list.intervalMs = backoffMs(backoff, random);
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
