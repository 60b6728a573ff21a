import type { HistoryKeep } from '../../archive/histories/kept-histories.ts';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import { type Deadline, openDeadline } from '../../core/scheduling/deadline.ts';
import type { Reservation } from '../../core/scheduling/ledger.ts';
import type { Account } from '../../model/account.ts';
import type { AccountReference } from '../../model/reference.ts';
import { atCost, overloaded, type Waiting } from '../cost.ts';
import { addToTally, emptyTally, type HistoryEnd, toHistoryEnd } from './history-end.ts';
import type { HistoryQuery, Sending } from './history-query.ts';
import { createHistorySource, type SourceOptions } from './history-source.ts';
import { createKeeping } from './keeping.ts';
import type { PlacedPost } from './ordering.ts';
import type { AccountPace } from './range-planner.ts';
import { type WalkEnd, walkHistory } from './walk-history.ts';

export interface ImporterOptions extends SourceOptions {
  readonly clock: Clock;
  readonly concurrency: number;
  /** Milliseconds until the first posts, and for an import that is sent as one document. */
  readonly firstTimeoutMs: number;
  /** Milliseconds for an import that is sent as it comes. */
  readonly timeoutMs: number;
  readonly keep?: HistoryKeep | undefined;
  /** Called if the keep cannot be read or written; the import continues without it. */
  readonly onKeepFailure?: ((error: unknown) => void) | undefined;
  /** Called with an account that is confirmed gone or not public. */
  readonly onGone: (account: AccountReference) => void;
  readonly stop?: AbortSignal;
}

/** The posts of an import as they come. A slow reader slows the import down. */
export interface PostStream {
  /**
   * Returns the next posts, or the result of the import. Throws Problem `shutting_down`, and the
   * signal's reason when the caller leaves; every other failure is part of the result.
   */
  next(): Promise<IteratorResult<readonly PlacedPost[], HistoryEnd>>;
  close(): Promise<void>;
}

export interface HistoryImport {
  readonly account: Account;
  readonly source: string;
  readonly startedMs: number;
  /** The posts in the order of the timeline, newest first. Close it in any case. */
  readonly posts: PostStream;
}

export type HistoryImporter = ReturnType<typeof createHistoryImporter>;

export function createHistoryImporter(options: ImporterOptions) {
  const { ledger } = options;
  return {
    get running() {
      return ledger.totalOf('histories');
    },
    /**
     * Begins an import for one unit; resolves when its first posts are there, or it is over. Throws
     * Problem, see ProviderChain.ask and Fetcher.fetch.
     */
    begin: async (query: HistoryQuery, waiting: Waiting, sending: Sending = 'stream') => {
      const hold = ledger.open('histories', waiting.client ?? null);
      if (!hold.take(1)) {
        throw overloaded('Too many histories are being read, in all or for this client address.');
      }
      try {
        return await atCost(waiting, () => beginImport(options, query, { waiting, hold, sending }));
      } catch (error) {
        hold.release();
        if (error instanceof Problem && error.code === 'not_found') options.onGone(query.account);
        throw error;
      }
    },
  };
}

interface Begun {
  readonly waiting: Waiting;
  readonly sending: Sending;
  readonly hold: Reservation;
}

async function beginImport(options: ImporterOptions, query: HistoryQuery, begun: Begun) {
  const { clock, stop, firstTimeoutMs, timeoutMs, concurrency } = options;
  const { waiting, sending } = begun;
  const startedMs = clock.now();
  let currentMs = Math.min(firstTimeoutMs, timeoutMs);
  const deadline = openDeadline(currentMs, stop ? [waiting.signal, stop] : [waiting.signal]);
  const { signal } = deadline;
  const refuse = (isEmpty: boolean) => refuseInterrupted(options, { waiting, deadline }, isEmpty);
  const source = createHistorySource(options, query, { ...waiting, signal });
  const keeping = createKeeping({ ...options, query, source });
  let walk: Walk | undefined;
  try {
    const reading = source.readProfile();
    const kept = await keeping.recall(reading);
    walk = walkHistory({
      ...{ query, kept, clock, signal, concurrency, ask: source.readPage },
      deadlineMs: () => startedMs + currentMs,
      // A profile that cannot be read is the failure of the import, thrown below.
      pace: reading.then((account) => paceOf(account, startedMs)).catch(() => unknownPace),
      // Outlines are not worth keeping.
      onWalked: query.isIndex ? undefined : keeping.store,
    });
    const [account, first] = await Promise.all([reading, walk.next()]);
    refuse(first.done === true);
    if (sending === 'stream') {
      currentMs = timeoutMs;
      deadline.restart(startedMs + timeoutMs - clock.now());
    }
    const state = { ...begun, options, query, deadline, startedMs, account };
    const posts = openPosts(walk, first, state);
    return { account, source: source.name, startedMs, posts };
  } catch (error) {
    deadline.abort();
    deadline.close();
    void walk?.return(nothing).catch(() => undefined); // its failure is thrown already
    refuse(true);
    throw error;
  }
}

const unknownPace: AccountPace = { rate: 0, joinedMs: Number.NEGATIVE_INFINITY };

function paceOf({ statuses, joined }: Account, nowMs: number): AccountPace {
  const joinedMs = joined === null ? Number.NaN : Date.parse(joined);
  if (!(joinedMs < nowMs)) return unknownPace;
  return { rate: (statuses ?? 0) / (nowMs - joinedMs), joinedMs };
}

/** @throws if nobody waits any more, the process stops, or nothing came in time */
function refuseInterrupted(
  { stop, firstTimeoutMs }: ImporterOptions,
  { waiting, deadline }: Pick<ImportState, 'waiting' | 'deadline'>,
  isEmpty: boolean,
): void {
  waiting.signal.throwIfAborted();
  if (stop?.aborted === true) {
    throw new Problem('shutting_down', { detail: 'This process is about to stop.' });
  }
  if (deadline.isExpired && isEmpty) {
    const detail = `The source gave no post within ${firstTimeoutMs} ms.`;
    throw new Problem('upstream_unavailable', { detail });
  }
}

const nothing = undefined as never; // nobody reads what a generator returns that is left

type Walk = ReturnType<typeof walkHistory>;
type Step = IteratorResult<readonly PlacedPost[], WalkEnd>;

interface ImportState extends Begun {
  readonly options: ImporterOptions;
  readonly query: HistoryQuery;
  readonly deadline: Deadline;
  readonly startedMs: number;
  readonly account: Account;
}

function openPosts(walk: Walk, first: Step, state: ImportState): PostStream {
  const sent = sendPosts(walk, first, state);
  const close = async () => {
    // A generator that was never asked for anything would not clean up.
    await endImport(walk, state);
    await sent.return(nothing);
  };
  return { next: () => sent.next(), close };
}

async function endImport(walk: Walk, { deadline, hold }: ImportState): Promise<void> {
  deadline.abort();
  deadline.close();
  await walk.return(nothing);
  hold.release();
}

async function* sendPosts(
  walk: Walk,
  first: Step,
  state: ImportState,
): AsyncGenerator<readonly PlacedPost[], HistoryEnd> {
  const { options, query, deadline } = state;
  const refuse = () => refuseInterrupted(options, state, false);
  let tally = emptyTally;
  try {
    let step = first;
    while (step.done !== true) {
      tally = addToTally(tally, step.value);
      yield step.value;
      refuse();
      step = await walk.next();
    }
    refuse();
    if (step.value.failure?.code === 'not_found') options.onGone(query.account);
    const durationMs = options.clock.now() - state.startedMs;
    const { isExpired: isLate } = deadline;
    return toHistoryEnd({ ...state, walk: step.value, tally, isLate, durationMs });
  } finally {
    await endImport(walk, state);
  }
}
