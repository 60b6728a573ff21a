import type { Pool } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { Problem } from '../../core/problem.ts';
import type { Account } from '../../model/account.ts';
import type { AccountReference } from '../../model/reference.ts';
import type { HistoryKeep } from '../../providers/history-keep.ts';
import { type Deadline, openDeadline } from '../deadline.ts';
import { atCost, type Waiting } from '../fetch.ts';
import type { ProviderChain } from '../provider-chain.ts';
import type { AccountPace } from './density.ts';
import { addToTally, emptyTally, type HistoryEnd, toHistoryEnd } from './history-end.ts';
import type { HistoryQuery } from './history-query.ts';
import { createKeeping } from './keeping.ts';
import type { PlacedPost } from './ordering.ts';
import type { PagePlace } from './page-span.ts';
import type { AskedPage } from './steady-page.ts';
import type { WalkEnd } from './walk.ts';
import { walkHistory } from './walk-history.ts';

/** What imports are made with. */
export interface ImporterOptions {
  readonly chain: ProviderChain;
  readonly clock: Clock;
  /** What the upstream requests are taken from; absent where nobody counts. */
  readonly pool?: Pool | undefined;
  /** The most pages that one import asks for at once. */
  readonly concurrency: number;
  /** Milliseconds for one import. */
  readonly timeoutMs: number;
  /** The most imports at a time. */
  readonly maxImports: number;
  /** Where imports are kept; absent where they are not. */
  readonly keep?: HistoryKeep | undefined;
  /** Told of a keep that cannot be read or written; the import goes on without it. */
  readonly onKeepFailure?: ((error: unknown) => void) | undefined;
  /** Told of an account that is confirmed gone or not public. */
  readonly onGone: (account: AccountReference) => void;
  /** Aborted when the process must not wait for upstreams any longer. */
  readonly stop?: AbortSignal;
}

/** The posts of an import as they come. A reader that is slow slows the import down. */
export interface PostStream {
  /**
   * Gives the next posts, or what the import came to.
   *
   * @throws Problem `shutting_down`, and the signal's reason when the caller leaves; every other
   *   failure is told at the end.
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
  /** When it began, in milliseconds since the epoch. */
  readonly startedMs: number;
  /** The posts in the order of the timeline, newest first. Close it in any case. */
  readonly posts: PostStream;
}

/** Imports the posts of accounts. */
export interface HistoryImporter {
  /**
   * Begins an import; resolves when its first posts are there, or it is over. It costs the caller one
   * unit, and each of its requests is taken out of the pool.
   *
   * @throws Problem, see ProviderChain.ask and Fetcher.fetch
   */
  begin(query: HistoryQuery, waiting: Waiting): Promise<HistoryImport>;
  /** How many imports are under way. */
  readonly running: number;
}

/** Creates an importer. It owns nothing that must be closed. */
export function createHistoryImporter(options: ImporterOptions): HistoryImporter {
  let running = 0;
  const take = () => {
    if (running >= options.maxImports) {
      throw new Problem('overloaded', {
        detail: `As many imports are under way as may be: ${options.maxImports}.`,
      });
    }
    running += 1;
    let isOver = false;
    return () => {
      if (!isOver) running -= 1;
      isOver = true;
    };
  };
  return {
    get running() {
      return running;
    },
    begin: async (query, waiting) => {
      const giveBack = take();
      try {
        return await atCost(waiting, () => beginImport(options, query, { waiting, giveBack }));
      } catch (error) {
        giveBack();
        if (error instanceof Problem && error.code === 'not_found') options.onGone(query.account);
        throw error;
      }
    },
  };
}

interface Begun {
  readonly waiting: Waiting;
  readonly giveBack: () => void;
}

async function beginImport(
  options: ImporterOptions,
  query: HistoryQuery,
  { waiting, giveBack }: Begun,
): Promise<HistoryImport> {
  const { clock, stop, timeoutMs } = options;
  const startedMs = clock.now();
  const interrupts = [waiting.signal, ...(stop === undefined ? [] : [stop])];
  const deadline = openDeadline(timeoutMs, interrupts);
  const source = createSource(options, query, { waiting, signal: deadline.signal });
  const keeping = createKeeping({ ...options, query, source });
  let walk: Walk | undefined;
  try {
    const reading = source.readProfile();
    const kept = await keeping.recall(reading);
    walk = walkHistory({
      ...{ query, kept, clock, signal: deadline.signal, ask: source.readPage },
      deadlineMs: startedMs + timeoutMs,
      concurrency: options.concurrency,
      pace: reading.then((account) => paceOf(account, startedMs)).catch(() => unknownPace),
      onWalked: keeping.store,
    });
    const [account, first] = await Promise.all([reading, walk.next()]);
    refuseInterrupted({ options, waiting, deadline }, first.done === true);
    const state = { options, query, waiting, deadline, giveBack, startedMs, account };
    return { account, source: source.name, startedMs, posts: openPosts(walk, first, state) };
  } catch (error) {
    deadline.abort();
    deadline.close();
    void walk?.return(nothing).catch(() => undefined); // its failure is told already
    refuseInterrupted({ options, waiting, deadline }, true);
    throw error;
  }
}

/** Asks the providers; who gives the first page gives all of them, for no other reads its cursors. */
function createSource(
  { chain, pool }: ImporterOptions,
  { account, withReplies, withReposts }: HistoryQuery,
  { waiting, signal }: { readonly waiting: Waiting; readonly signal: AbortSignal },
) {
  const share = waiting.caller?.share ?? 'anonymous';
  const takeRequest = pool && (() => pool.take(share));
  let provider: string | undefined;
  let profiled = '';
  let profile: Account | null = null;
  return {
    get name() {
      return provider ?? profiled;
    },
    get isArchive() {
      return profiled === 'archive' || provider === 'archive';
    },
    /** The profile; null until it is read. */
    get account() {
      return profile;
    },
    readProfile: async (): Promise<Account> => {
      const query = { kind: 'profile', account } as const;
      const { found, source } = await chain.ask('profile', query, { signal, takeRequest });
      profiled = source;
      profile = found.account;
      return profile;
    },
    readPage: async (place: PagePlace, pageSignal: AbortSignal): Promise<AskedPage> => {
      const query = {
        ...({ kind: 'timeline', account, withReplies, withReposts, count: pageCount } as const),
        ...place,
      };
      const asking = { signal: pageSignal, takeRequest, provider, isUnhurried: true };
      const { found, source } = await chain.ask('timeline', query, asking);
      provider ??= source;
      return { page: found, source };
    },
  };
}

/** As many rows as a provider gives at once. */
const pageCount = 100;

const unknownPace: AccountPace = { rate: 0, joinedMs: Number.NEGATIVE_INFINITY };

/** Gives how many posts an account has made since when. */
function paceOf({ statuses, joined }: Account, nowMs: number): AccountPace {
  const joinedMs = joined === null ? Number.NaN : Date.parse(joined);
  if (!(joinedMs < nowMs)) return unknownPace;
  return { rate: (statuses ?? 0) / (nowMs - joinedMs), joinedMs };
}

interface Interruption {
  readonly options: Pick<ImporterOptions, 'stop' | 'timeoutMs'>;
  readonly waiting: Waiting;
  readonly deadline: Deadline;
}

/** @throws where nobody waits any more, or must not, or where nothing came in time */
function refuseInterrupted({ options, waiting, deadline }: Interruption, isEmpty: boolean): void {
  waiting.signal.throwIfAborted();
  if (options.stop?.aborted === true) {
    throw new Problem('shutting_down', { detail: 'This process is about to stop.' });
  }
  if (deadline.isLate && isEmpty) {
    throw new Problem('upstream_unavailable', {
      detail: `The source gave no post within ${options.timeoutMs} ms.`,
    });
  }
}

type Walk = ReturnType<typeof walkHistory>;

interface ImportState extends Interruption, Begun {
  readonly options: ImporterOptions;
  readonly query: HistoryQuery;
  readonly startedMs: number;
  readonly account: Account;
}

/** A generator that was never asked for anything would not clean up. */
function openPosts(
  walk: Walk,
  first: IteratorResult<readonly PlacedPost[], WalkEnd>,
  state: ImportState,
): PostStream {
  const sent = sendPosts(walk, first, state);
  return {
    next: () => sent.next(),
    close: async () => {
      await endImport(walk, state);
      await sent.return(undefined as never); // nobody reads what it returns
    },
  };
}

async function endImport(walk: Walk, { deadline, giveBack }: ImportState): Promise<void> {
  deadline.abort();
  deadline.close();
  await walk.return(nothing);
  giveBack();
}

async function* sendPosts(
  walk: Walk,
  first: IteratorResult<readonly PlacedPost[], WalkEnd>,
  state: ImportState,
): AsyncGenerator<readonly PlacedPost[], HistoryEnd> {
  const { options, query, account, deadline, startedMs } = state;
  let tally = emptyTally;
  try {
    let step = first;
    while (step.done !== true) {
      tally = addToTally(tally, step.value);
      yield step.value;
      refuseInterrupted(state, false);
      step = await walk.next();
    }
    refuseInterrupted(state, false);
    if (step.value.failure?.code === 'not_found') options.onGone(query.account);
    const durationMs = options.clock.now() - startedMs;
    const { isLate } = deadline;
    return toHistoryEnd({ query, account, walk: step.value, tally, isLate, durationMs });
  } finally {
    await endImport(walk, state);
  }
}

/** What a walk that nobody reads to its end comes to. */
const nothing: WalkEnd = {
  unread: [],
  uncertain: [],
  isCut: false,
  isAtEnd: false,
  failure: null,
  pages: 0,
  warnings: [],
};
