import type { HistoryStore } from '../../archive/histories/history-store.ts';
import type { Pool } from '../../lib/caller.ts';
import { type Clock, createSteadyClock } from '../../lib/clock.ts';
import type { RequestContext } from '../../lib/http/http-client.ts';
import { Problem } from '../../lib/problem.ts';
import { type Deadline, openDeadline } from '../../lib/scheduling/deadline.ts';
import type { Quotas, Reservation } from '../../lib/scheduling/quotas.ts';
import { type Account, toAccount } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';
import type { Page } from '../../model/queries.ts';
import type { AccountReference } from '../../model/reference.ts';
import type { ProviderChain } from '../chain/provider-chain.ts';
import { overloaded, type Requester, toTakeBytes, withCharge } from '../cost.ts';
import {
  addToTally,
  type Delivery,
  emptyTally,
  type HistoryQuery,
  type HistoryResult,
  toHistoryResult,
} from './history-result.ts';
import type { PlacedPost } from './ordering.ts';
import type { PagePlace } from './page-reader.ts';
import { type AccountPace, unknownPace } from './range-planner.ts';
import { createStoredHistory } from './stored-history.ts';
import { type HistoryReadResult, streamHistory } from './stream-history.ts';

export interface ImporterOptions extends SourceOptions {
  readonly clock: Clock;
  readonly concurrency: number;
  /** Timeout in ms for the first posts of a streamed import, or for a whole document. */
  readonly firstTimeoutMs: number;
  /** Timeout in milliseconds for a whole streamed import. */
  readonly timeoutMs: number;
  readonly historyStore?: HistoryStore | undefined;
  /** Called if the store of fetched posts fails; the import continues without the store. */
  readonly onStoreFailure?: ((error: unknown) => void) | undefined;
  /** Called with an account that is confirmed to be deleted or not public. */
  readonly onGone: (account: AccountReference) => void;
  readonly stop?: AbortSignal;
}

export interface HistoryImport {
  readonly account: Account;
  readonly source: string;
  readonly startedMs: number;
  /** Stream of the posts, newest first. The caller must close it. */
  readonly posts: PostStream;
}

export type HistoryImporter = ReturnType<typeof createHistoryImporter>;

export function createHistoryImporter(options: ImporterOptions) {
  const { quotas } = options;
  return {
    get running() {
      return quotas.totalOf('histories');
    },
    /** Charges the caller, starts an import and waits for its first posts. @throws Problem */
    begin: async (query: HistoryQuery, requester: Requester, delivery: Delivery = 'stream') => {
      const slot = quotas.open('histories', requester.client ?? null);
      if (!slot.take(1)) {
        throw overloaded('Too many histories are being imported, in total or for this client.');
      }
      try {
        return await withCharge(requester, () =>
          beginImport(options, query, { requester, slot, delivery }),
        );
      } catch (error) {
        slot.release();
        if (error instanceof Problem && error.code === 'not_found') options.onGone(query.account);
        throw error;
      }
    },
  };
}

interface StartedImport {
  readonly requester: Requester;
  readonly delivery: Delivery;
  readonly slot: Reservation;
}

async function beginImport(given: ImporterOptions, query: HistoryQuery, started: StartedImport) {
  const options = { ...given, clock: createSteadyClock(given.clock) };
  const { clock, stop, firstTimeoutMs, timeoutMs, concurrency } = options;
  const { requester, delivery } = started;
  const startedMs = clock.now();
  let currentMs = Math.min(firstTimeoutMs, timeoutMs);
  const deadline = openDeadline(currentMs, stop ? [requester.signal, stop] : [requester.signal]);
  const { signal } = deadline;
  const check = (isEmpty: boolean) => throwIfInterrupted(options, { requester, deadline }, isEmpty);
  const source = createHistorySource(options, query, { ...requester, signal });
  const storedHistory = createStoredHistory({ ...options, query, source });
  let stream: HistoryStream | undefined;
  try {
    const reading = source.readProfile();
    const stored = await storedHistory.read(reading);
    stream = streamHistory({
      ...{ query, stored, clock, signal, concurrency, ask: source.readPage },
      deadlineMs: () => startedMs + currentMs,
      // If the profile cannot be read, the import fails below.
      pace: reading.then((account) => paceOf(account, startedMs)).catch(() => unknownPace),
      // The posts of an index are incomplete, so they are not stored.
      onRead: query.isIndex ? undefined : storedHistory.write,
    });
    const [account, first] = await Promise.all([reading, stream.next()]);
    check(first.done === true);
    if (delivery === 'stream') {
      currentMs = timeoutMs;
      deadline.restart(startedMs + timeoutMs - clock.now());
    }
    const state = { ...started, options, query, deadline, startedMs, account };
    return { account, source: source.name, startedMs, posts: openPosts(stream, first, state) };
  } catch (error) {
    deadline.abort();
    deadline.close();
    void stream?.return(nothing).catch(() => undefined); // its failure is thrown below
    check(true);
    throw error;
  }
}

function paceOf({ statuses, joined }: Account, nowMs: number): AccountPace {
  const posts = statuses ?? unknownPace.posts;
  const joinedMs = joined === null ? Number.NaN : Date.parse(joined);
  if (!(joinedMs < nowMs)) return { ...unknownPace, posts };
  return { posts, rate: (statuses ?? 0) / (nowMs - joinedMs), joinedMs };
}

/** Throws if the caller has disconnected, the server is stopping, or no post arrived in time. */
function throwIfInterrupted(
  { stop, firstTimeoutMs }: ImporterOptions,
  { requester, deadline }: Pick<ImportState, 'requester' | 'deadline'>,
  isEmpty: boolean,
): void {
  requester.signal.throwIfAborted();
  if (stop?.aborted === true) {
    throw new Problem('shutting_down', { detail: 'The server is shutting down.' });
  }
  if (deadline.isExpired && isEmpty) {
    const detail = `The source returned no posts within ${firstTimeoutMs} ms.`;
    throw new Problem('upstream_unavailable', { detail });
  }
}

const nothing = undefined as never; // return value of an abandoned generator

type HistoryStream = ReturnType<typeof streamHistory>;
type Step = IteratorResult<readonly PlacedPost[], HistoryReadResult>;

interface ImportState extends StartedImport {
  readonly options: ImporterOptions;
  readonly query: HistoryQuery;
  readonly deadline: Deadline;
  readonly startedMs: number;
  readonly account: Account;
}

export type PostStream = ReturnType<typeof openPosts>;

/** Opens a stream of imported posts. A slow consumer slows down the import. */
function openPosts(stream: HistoryStream, first: Step, state: ImportState) {
  const sent = sendPosts(stream, first, state);
  const close = async () => {
    // A generator that was never started does not run its `finally` block.
    await endImport(stream, state);
    await sent.return(nothing);
  };
  return {
    /**
     * Returns the next posts, or the result of the import, which includes most failures.
     * @throws Problem `shutting_down` when the server stops; the abort reason when the caller
     *   disconnects
     */
    next: () => sent.next(),
    close,
  };
}

async function endImport(stream: HistoryStream, { deadline, slot }: ImportState): Promise<void> {
  deadline.abort();
  deadline.close();
  await stream.return(nothing);
  slot.release();
}

async function* sendPosts(
  stream: HistoryStream,
  first: Step,
  state: ImportState,
): AsyncGenerator<readonly PlacedPost[], HistoryResult> {
  const { options, query, deadline } = state;
  const check = () => throwIfInterrupted(options, state, false);
  let tally = emptyTally;
  try {
    let step = first;
    while (step.done !== true) {
      tally = addToTally(tally, step.value);
      yield step.value;
      check();
      step = await stream.next();
    }
    check();
    if (step.value.failure?.code === 'not_found') options.onGone(query.account);
    const durationMs = options.clock.now() - state.startedMs;
    const { isExpired: isLate } = deadline;
    return toHistoryResult({ ...state, read: step.value, tally, isLate, durationMs });
  } finally {
    await endImport(stream, state);
  }
}

interface SourceOptions {
  readonly chain: ProviderChain;
  readonly pool?: Pool | undefined;
  readonly quotas: Quotas;
}

const pageCount = 100;

/** Creates readers of a profile and its timeline. All pages come from the same provider. */
function createHistorySource(
  { chain, pool, quotas }: SourceOptions,
  { account, withReplies, withReposts, onlyReplies, isIndex }: HistoryQuery,
  { caller, client, signal, span }: Requester,
) {
  const takeRequest = pool && (() => pool.take(caller?.share ?? 'anonymous', client));
  let provider: string | undefined;
  let profileSource = '';
  let profile: Account | null = null;
  const ask = async <Found>(
    pageSignal: AbortSignal,
    read: (request: RequestContext) => Promise<Found>,
  ) => {
    const bytes = quotas.open('upstreamBytes', client ?? null);
    try {
      const takeBytes = toTakeBytes(bytes);
      return await read({ signal: pageSignal, takeRequest, takeBytes, client, span });
    } finally {
      bytes.release();
    }
  };
  return {
    get name() {
      return provider ?? profileSource;
    },
    get isArchive() {
      return profileSource === 'archive' || provider === 'archive';
    },
    get account() {
      return profile;
    },
    readProfile: async (): Promise<Account> => {
      const query = { kind: 'profile', account } as const;
      const { found, source } = await ask(signal, (request) =>
        chain.fetch('profile', query, request),
      );
      profileSource = source;
      profile = found.account;
      return profile;
    },
    readPage: async (place: PagePlace, pageSignal: AbortSignal): Promise<Page<Post>> => {
      const list = { kind: 'timeline', account, withReplies, withReposts, onlyReplies } as const;
      const query = { ...list, ...place, count: pageCount };
      const { found, source } = await ask(pageSignal, (request) =>
        chain.fetch('timeline', query, { ...request, provider, isBackground: true }),
      );
      provider ??= source;
      return isIndex ? toOutline(found) : found;
    },
  };
}

/** Reduces the posts of a page to the fields that are needed to list ids and times in order. */
export function toOutline(page: Page<Post>): Page<Post> {
  return { ...page, items: page.items.flatMap(outlinePost) };
}

function outlinePost(post: Post): readonly Status[] {
  if (post.type === 'tombstone') return [];
  const outline = {
    ...post,
    ...{ text: '', facets: [], quote: null, poll: null, article: null, card: null },
    author: outlineAccount(post.author),
    reposted_by: post.reposted_by && outlineAccount(post.reposted_by),
    media: { all: [], photos: [], videos: [] },
    community_note: null,
  };
  return [outline];
}

const outlineAccount = ({ id, screen_name, platform }: Account): Account =>
  toAccount({ id, screen_name, name: '', url: '', platform });
