import type { HistoryKeep } from '../../archive/histories/kept-histories.ts';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import { type Deadline, openDeadline } from '../../core/scheduling/deadline.ts';
import type { Hold } from '../../core/scheduling/ledger.ts';
import type { Account } from '../../model/account.ts';
import type { AccountReference } from '../../model/reference.ts';
import { atCost, type Waiting } from '../cost.ts';
import { addToTally, emptyTally, type HistoryEnd, toHistoryEnd } from './history-end.ts';
import type { HistoryQuery, Sending } from './history-query.ts';
import { createHistorySource, type SourceOptions } from './history-source.ts';
import { createKeeping } from './keeping.ts';
import type { PlacedPost } from './ordering.ts';
import type { AccountPace } from './range-planner.ts';
import { type WalkEnd, walkHistory } from './walk-history.ts';

export interface ImporterOptions extends SourceOptions {
  readonly clock: Clock;
  /** Maximum number of pages that one import asks for at once. */
  readonly concurrency: number;
  /** Milliseconds until the first posts, and for an import that is sent as one document. */
  readonly firstTimeoutMs: number;
  /** Milliseconds for an import that is sent as it comes. */
  readonly timeoutMs: number;
  /** Where imports are kept; absent if they are not. */
  readonly keep?: HistoryKeep | undefined;
  /** Called if the keep cannot be read or written; the import continues without it. */
  readonly onKeepFailure?: ((error: unknown) => void) | undefined;
  /** Called with an account that is confirmed gone or not public. */
  readonly onGone: (account: AccountReference) => void;
  /** Aborted when the process must not wait for upstreams any longer. */
  readonly stop?: AbortSignal;
}

/** The posts of an import as they come. A slow reader slows the import down. */
export interface PostStream {
  /**
   * Returns the next posts, or the result of the import.
   *
   * @throws Problem `shutting_down`, and the signal's reason when the caller leaves; every other
   *   failure is part of the result.
   */
  next(): Promise<IteratorResult<readonly PlacedPost[], HistoryEnd>>;
  /** Ends the import, however far it is. */
  close(): Promise<void>;
}

/** An import that has begun. */
export interface HistoryImport {
  readonly account: Account;
  /** The provider that answers. */
  readonly source: string;
  /** Milliseconds since the epoch. */
  readonly startedMs: number;
  /** The posts in the order of the timeline, newest first. Close it in any case. */
  readonly posts: PostStream;
}

export type HistoryImporter = ReturnType<typeof createHistoryImporter>;

/** Creates the importer of the posts of accounts. */
export function createHistoryImporter(options: ImporterOptions) {
  const { ledger } = options;
  return {
    /** Number of imports under way. */
    get running() {
      return ledger.totalOf('histories');
    },
    /**
     * Begins an import; resolves when its first posts are there, or it is over. It costs the caller one
     * unit, and each of its requests is taken out of the pool.
     *
     * @throws Problem, see ProviderChain.ask and Fetcher.fetch
     */
    begin: async (
      query: HistoryQuery,
      waiting: Waiting,
      sending: Sending = 'stream',
    ): Promise<HistoryImport> => {
      const hold = ledger.open('histories', waiting.client ?? null);
      if (!hold.take(1)) {
        throw new Problem('overloaded', {
          detail: 'Too many histories are being read, in all or for this client address.',
        });
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
  /** The import itself, released at its end. */
  readonly hold: Hold;
}

async function beginImport(
  options: ImporterOptions,
  query: HistoryQuery,
  begun: Begun,
): Promise<HistoryImport> {
  const { clock, stop, firstTimeoutMs, timeoutMs, concurrency } = options;
  const { waiting, sending } = begun;
  const startedMs = clock.now();
  let currentMs = Math.min(firstTimeoutMs, timeoutMs);
  const deadline = openDeadline(currentMs, stop ? [waiting.signal, stop] : [waiting.signal]);
  const { signal } = deadline;
  const refuse = (isEmpty: boolean) => refuseInterrupted(options, { waiting, deadline, isEmpty });
  const source = createHistorySource(options, query, { ...waiting, signal });
  const keeping = createKeeping({ ...options, query, source });
  let walk: Walk | undefined;
  try {
    const reading = source.readProfile();
    const kept = await keeping.recall(reading);
    walk = walkHistory({
      ...{ query, kept, clock, signal, concurrency, ask: source.readPage },
      deadlineMs: () => startedMs + currentMs,
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
    const posts = openPosts(walk, first, {
      ...begun,
      options,
      query,
      deadline,
      startedMs,
      account,
    });
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
  {
    waiting,
    deadline,
    isEmpty,
  }: { readonly waiting: Waiting; readonly deadline: Deadline; readonly isEmpty: boolean },
): void {
  waiting.signal.throwIfAborted();
  if (stop?.aborted === true) {
    throw new Problem('shutting_down', { detail: 'This process is about to stop.' });
  }
  if (deadline.isLate && isEmpty) {
    throw new Problem('upstream_unavailable', {
      detail: `The source gave no post within ${firstTimeoutMs} ms.`,
    });
  }
}

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
  return {
    next: () => sent.next(),
    close: async () => {
      // A generator that was never asked for anything would not clean up.
      await endImport(walk, state);
      await sent.return(undefined as never); // nobody reads what it returns
    },
  };
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
  const refuse = () => refuseInterrupted(options, { ...state, isEmpty: false });
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
    const { isLate } = deadline;
    return toHistoryEnd({ ...state, walk: step.value, tally, isLate, durationMs });
  } finally {
    await endImport(walk, state);
  }
}

/** The result of a walk that nobody reads to its end. */
const nothing: WalkEnd = {
  unread: [],
  uncertain: [],
  isCut: false,
  isAtEnd: false,
  failure: null,
  pages: 0,
  warnings: [],
};
