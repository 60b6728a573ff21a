import type { HistoryKeep } from '../../archive/histories/history-keep.ts';
import type { Pool } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import type { RequestContext } from '../../core/http/http-client.ts';
import { Problem } from '../../core/problem.ts';
import { type Deadline, openDeadline } from '../../core/scheduling/deadline.ts';
import type { Hold, Ledger } from '../../core/scheduling/ledger.ts';
import type { Account } from '../../model/account.ts';
import type { AccountReference } from '../../model/reference.ts';
import type { ProviderChain } from '../chain/provider-chain.ts';
import { atCost, toTakeBytes, type Waiting } from '../fetch.ts';
import type { AccountPace } from './density.ts';
import { addToTally, emptyTally, type HistoryEnd, toHistoryEnd } from './history-end.ts';
import type { HistoryQuery, Sending } from './history-query.ts';
import { createKeeping } from './keeping.ts';
import type { PlacedPost } from './ordering.ts';
import { toOutline } from './outline.ts';
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
  /** Milliseconds until the first posts, and for an import that is sent as one document. */
  readonly firstTimeoutMs: number;
  /** Milliseconds for an import that is sent as it comes. */
  readonly timeoutMs: number;
  /** Bounds the imports (`histories`) and the bytes that they receive (`upstreamBytes`). */
  readonly ledger: Ledger;
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
  begin(query: HistoryQuery, waiting: Waiting, sending?: Sending): Promise<HistoryImport>;
  /** How many imports are under way. */
  readonly running: number;
}

/** Creates an importer. It owns nothing that must be closed. */
export function createHistoryImporter(options: ImporterOptions): HistoryImporter {
  const { ledger } = options;
  return {
    get running() {
      return ledger.totalOf('histories');
    },
    begin: async (query, waiting, sending = 'stream') => {
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
  { waiting, hold, sending }: Begun,
): Promise<HistoryImport> {
  const { clock, stop, firstTimeoutMs, timeoutMs } = options;
  const startedMs = clock.now();
  const interrupts = [waiting.signal, ...(stop === undefined ? [] : [stop])];
  let currentMs = Math.min(firstTimeoutMs, timeoutMs);
  const deadline = openDeadline(currentMs, interrupts);
  const source = createSource(options, query, { waiting, signal: deadline.signal });
  const keeping = createKeeping({ ...options, query, source });
  let walk: Walk | undefined;
  try {
    const reading = source.readProfile();
    const kept = await keeping.recall(reading);
    walk = walkHistory({
      ...{ query, kept, clock, signal: deadline.signal, ask: source.readPage },
      deadlineMs: () => startedMs + currentMs,
      concurrency: options.concurrency,
      pace: reading.then((account) => paceOf(account, startedMs)).catch(() => unknownPace),
      // Outlines are not worth keeping.
      onWalked: query.isIndex ? undefined : keeping.store,
    });
    const [account, first] = await Promise.all([reading, walk.next()]);
    refuseInterrupted({ options, waiting, deadline }, first.done === true);
    if (sending === 'stream') {
      currentMs = timeoutMs;
      deadline.restart(startedMs + timeoutMs - clock.now());
    }
    const state = { options, query, waiting, sending, deadline, hold, startedMs, account };
    return { account, source: source.name, startedMs, posts: openPosts(walk, first, state) };
  } catch (error) {
    deadline.abort();
    deadline.close();
    void walk?.return(nothing).catch(() => undefined); // its failure is told already
    refuseInterrupted({ options, waiting, deadline }, true);
    throw error;
  }
}

/** Creates the source of an import. The provider of the first page gives all, as no other reads its cursors. */
function createSource(
  options: ImporterOptions,
  { account, withReplies, withReposts, isIndex }: HistoryQuery,
  { waiting, signal }: { readonly waiting: Waiting; readonly signal: AbortSignal },
) {
  const { chain } = options;
  const ask = createAsk(options, waiting);
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
      const { found, source } = await ask(signal, (request) =>
        chain.ask('profile', query, request),
      );
      profiled = source;
      profile = found.account;
      return profile;
    },
    readPage: async (place: PagePlace, pageSignal: AbortSignal): Promise<AskedPage> => {
      const query = {
        ...({ kind: 'timeline', account, withReplies, withReposts, count: pageCount } as const),
        ...place,
      };
      const { found, source } = await ask(pageSignal, (request) =>
        chain.ask('timeline', query, { ...request, provider, isUnhurried: true }),
      );
      provider ??= source;
      return { page: isIndex ? toOutline(found) : found, source };
    },
  };
}

/** Creates what asks the chain on behalf of a caller. The bytes of an answer are held until it is read. */
function createAsk({ pool, ledger }: ImporterOptions, { caller, client }: Waiting) {
  const share = caller?.share ?? 'anonymous';
  const takeRequest = pool && (() => pool.take(share, client));
  return async <Found>(
    signal: AbortSignal,
    ask: (request: RequestContext) => Promise<Found>,
  ): Promise<Found> => {
    const bytes = ledger.open('upstreamBytes', client ?? null);
    try {
      return await ask({ signal, takeRequest, takeBytes: toTakeBytes(bytes), client });
    } finally {
      bytes.release();
    }
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
  readonly options: Pick<ImporterOptions, 'stop' | 'firstTimeoutMs'>;
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
      detail: `The source gave no post within ${options.firstTimeoutMs} ms.`,
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

async function endImport(walk: Walk, { deadline, hold }: ImportState): Promise<void> {
  deadline.abort();
  deadline.close();
  await walk.return(nothing);
  hold.release();
}

async function* sendPosts(
  walk: Walk,
  first: IteratorResult<readonly PlacedPost[], WalkEnd>,
  state: ImportState,
): AsyncGenerator<readonly PlacedPost[], HistoryEnd> {
  const { options, query, account, sending, deadline, startedMs } = state;
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
    return toHistoryEnd({ query, account, walk: step.value, tally, isLate, sending, durationMs });
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
