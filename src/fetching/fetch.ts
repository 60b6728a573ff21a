import type { Caller, Client, Pool, PoolShare } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import { HttpFailure, type RequestContext } from '../core/http/http-client.ts';
import { Problem } from '../core/problem.ts';
import { withDeadline } from '../core/scheduling/deadline.ts';
import type { Hold, Ledger } from '../core/scheduling/ledger.ts';
import { ProviderError } from '../platforms/provider-error.ts';
import { type Coalescer, createCoalescer } from './cache/coalesce.ts';
import type { CacheEntry, Outcome, ResponseCache } from './cache/response-cache.ts';
import { subjectsOf } from './cache/subjects.ts';
import { toNotLive } from './chain/live-only.ts';
import type { ProviderChain } from './chain/provider-chain.ts';
import { browse, type ListPart, type PartStore } from './lists/browse.ts';
import type { WalkMemory } from './lists/walk-memory.ts';
import type { Answer, CacheState, Found, Plan } from './plan.ts';
import { createViews } from './views.ts';

/** How long answers are kept and waited for. */
export interface FetchOptions {
  readonly chain: ProviderChain;
  readonly cache: ResponseCache;
  readonly memory: WalkMemory;
  readonly clock: Clock;
  /** Seconds that a post is fresh. */
  readonly ttlSeconds: number;
  readonly staleWhileRevalidateSeconds: number;
  readonly staleIfErrorSeconds: number;
  readonly notFoundSeconds: number;
  /** Milliseconds for one read, all providers together. */
  readonly readTimeoutMs: number;
  /** Bounds the reads at upstreams (`upstreamReads`) and the bytes that they receive (`upstreamBytes`). */
  readonly ledger: Ledger;
  /** What the upstream requests of browse reads are taken from; absent where nobody counts. */
  readonly pool?: Pool | undefined;
  /** Told of a defect that no caller sees, because the fetch ran in the background. */
  readonly onDefect: (error: unknown) => void;
  /** Aborted when the process must not wait for upstreams any longer. */
  readonly stop?: AbortSignal;
}

/** The caller that an answer is fetched for. The members are read only if the cache has no answer. */
export interface Waiting {
  readonly signal: AbortSignal;
  /** Pays for what the cache does not answer; absent where reads cost nothing. */
  readonly caller?: Caller | undefined;
  /** The address that the work is counted under; absent for the server's own and the command line's. */
  readonly client?: Client | undefined;
}

/** Fetches what plans ask for. */
export interface Fetcher {
  /**
   * Gives the answer to a plan at once where the cache holds a fresh one.
   *
   * @throws Problem `not_found` when what is held is that it is gone.
   */
  recall(plan: Plan): Answer | undefined;
  /**
   * Gives the answer to a plan from the cache, from a fetch that is under way, or from a provider.
   *
   * What the cache does not answer costs the caller a unit. It is given back where the read fails by
   * no fault of the caller, or a stale copy answers after all.
   *
   * @throws Problem, see ProviderChain.ask; `overloaded` when too many reads or bytes are in flight,
   *   in all or for the caller's address;
   *   `rate_limited` when the caller's allowance or the pool is exhausted; the signal's reason when
   *   the caller leaves.
   */
  fetch(plan: Plan, waiting?: Waiting): Promise<Answer>;
  /** Waits until no fetch is under way in the background. */
  settle(): Promise<void>;
}

/** Parts of a post's freshness that an answer keeps. */
const freshnessDivisor = { post: 1, list: 12, search: 60 } as const;

/** A partial answer and one of this machine are asked for again soon. */
const shortDivisor = 60;

type Entry = CacheEntry & { readonly views: Answer['views'] };

/** Composes cache, coalescing and chain. It owns nothing that must be closed. */
export function createFetcher(options: FetchOptions): Fetcher {
  const { cache, clock } = options;
  const join = createFlights(options);
  const background = new Set<Promise<unknown>>();

  const revalidate = (plan: Plan): void => {
    const work = join(plan, { signal: undefined, share: 'anonymous', client: null }).catch(
      (error: unknown) => {
        // The chain has told of a provider's failure, and the reader has the stale answer.
        if (!(error instanceof Problem)) options.onDefect(error);
      },
    );
    background.add(work);
    void work.finally(() => background.delete(work));
  };
  const refetch = async (plan: Plan, kept: Entry | undefined, waiting?: Waiting) => {
    const waiter = toWaiter(waiting);
    try {
      return await atCost(waiting, async () =>
        toAnswer(await join(plan, waiter), plan.useCache ? 'miss' : 'bypass'),
      );
    } catch (error) {
      if (plan.isLiveOnly === true) throw toNotLive(error);
      if (kept === undefined || !isUpstreamTrouble(error) || clock.now() >= kept.errorUntilMs)
        throw error;
      return toAnswer(kept, 'stale');
    }
  };

  return {
    recall: (plan) => {
      const kept = plan.useCache ? cache.get(plan.key) : undefined;
      if (kept === undefined || clock.now() >= kept.freshUntilMs) return undefined;
      return toAnswer(kept, 'hit');
    },
    fetch: async (plan, waiting) => {
      const kept = plan.useCache ? cache.get(plan.key) : undefined;
      if (kept !== undefined && clock.now() < kept.freshUntilMs) return toAnswer(kept, 'hit');
      if (kept !== undefined && !plan.isLiveOnly && clock.now() < kept.revalidateUntilMs) {
        revalidate(plan);
        return toAnswer(kept, 'stale');
      }
      return refetch(plan, kept, waiting);
    },
    settle: async () => {
      await Promise.allSettled(background);
    },
  };
}

/** Creates the function that joins a plan to a fetch in flight, or begins one. */
function createFlights(options: FetchOptions) {
  const coalescer: Coalescer<Entry> = createCoalescer();
  const begin = async (plan: Plan, signal: AbortSignal, waiter: Waiter): Promise<Entry> => {
    const slot = options.ledger.open('upstreamReads', waiter.client);
    const bytes = options.ledger.open('upstreamBytes', waiter.client);
    if (!slot.take(1)) throw overloaded('Too many reads wait for an upstream at the moment.');
    try {
      const { share, client } = waiter;
      const takeBytes = toTakeBytes(bytes);
      return await fetchAndKeep(options, plan, { signal, share, client, takeBytes });
    } finally {
      bytes.release();
      slot.release();
    }
  };
  return async (plan: Plan, waiter: Waiter): Promise<Entry> => {
    const { signal, share } = waiter;
    // What skips the cache must not get what a read that does not has begun to put together.
    const flight = plan.useCache ? plan.key : `anew ${plan.key}`;
    let isOwn = false;
    try {
      return await coalescer.run(flight, signal, (shared) => {
        isOwn = true;
        return begin(plan, shared, waiter);
      });
    } catch (error) {
      if (isOwn || !isRateLimited(error)) throw error;
      // Who began it may draw on another part of the pool.
      return coalescer.run(`${share} ${flight}`, signal, (shared) => begin(plan, shared, waiter));
    }
  };
}

/**
 * Runs what costs the caller a unit, and gives it back where nothing was had for it.
 *
 * @throws Problem `rate_limited`, and what `work` throws
 */
export async function atCost<Result>(
  waiting: Waiting | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  const spending = await waiting?.caller?.spend();
  try {
    return await work();
  } catch (error) {
    if (!isCostly(error, waiting?.signal)) spending?.giveBack();
    throw error;
  }
}

function overloaded(detail: string): Problem {
  return new Problem('overloaded', { detail });
}

/**
 * Creates what takes the bytes of upstream responses out of a hold, as `RequestContext.takeBytes`. They
 * stay taken until the hold is released, because what is parsed from them is larger still.
 */
export function toTakeBytes(hold: Hold): (count: number) => void {
  return (count) => {
    if (!hold.take(count)) throw overloaded('Too many bytes of upstream responses are in flight.');
  };
}

/** The caller that waits for an in-flight fetch. Whoever begins it is charged for it. */
interface Waiter {
  readonly signal: AbortSignal | undefined;
  readonly share: PoolShare;
  readonly client: Client | null;
}

function toWaiter(waiting: Waiting | undefined): Waiter {
  return {
    signal: waiting?.signal,
    share: waiting?.caller?.share ?? 'anonymous',
    client: waiting?.client ?? null,
  };
}

function isRateLimited(error: unknown): boolean {
  return error instanceof Problem && error.code === 'rate_limited';
}

/** What an upstream was asked for and has told: also that there is no such thing, or that it refuses. */
const told: ReadonlySet<string> = new Set(['not_found', 'invalid_query']);

/** Returns whether a failed read keeps its unit: it was answered, its caller left, or chose a host that hangs. */
function isCostly(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted === true) return true;
  return error instanceof Problem && (told.has(error.code) || isHangingHost(error.cause));
}

/** A host that the caller named did not answer in time. Otherwise holding slots would cost nothing. */
function isHangingHost(cause: unknown): boolean {
  if (!(cause instanceof ProviderError) || cause.isGeneral) return false;
  const failure = cause.cause;
  return failure instanceof HttpFailure && ['timeout', 'aborted'].includes(failure.kind);
}

function isUpstreamTrouble(error: unknown): boolean {
  return error instanceof Problem && error.status >= 500;
}

function toAnswer(kept: Entry, cache: CacheState): Answer {
  if ('gone' in kept.outcome) throw kept.outcome.gone;
  const { found, source } = kept.outcome;
  if ('profile' in found || 'page' in found) throw new Error('A part of a list is no answer.');
  return { found, source, fetchedAtMs: kept.fetchedAtMs, cache, views: kept.views };
}

interface Fetching extends Pick<RequestContext, 'signal' | 'client' | 'takeBytes'> {
  readonly share: PoolShare;
}

async function fetchAndKeep(
  options: FetchOptions,
  plan: Plan,
  { signal, share, client, takeBytes }: Fetching,
): Promise<Entry> {
  const { stop, cache, readTimeoutMs, pool } = options;
  const signals = stop === undefined ? [signal] : [signal, stop];
  let outcome: Outcome;
  try {
    outcome = await withDeadline(readTimeoutMs, signals, (deadline) =>
      resolve(options, plan, {
        signal: deadline,
        takeRequest: pool && (() => pool.take(share)),
        takeBytes,
        client,
      }),
    );
  } catch (error) {
    if (stop?.aborted) throw shuttingDown();
    if (!(error instanceof Problem) || error.code !== 'not_found') throw error;
    // What is confirmed gone is not served from an older copy, whatever its options were.
    cache.dropSubject(plan.subject, options.clock.now());
    outcome = { gone: error };
  }
  // What is missing, or stands in for something, may do so because nobody waits any more.
  if (stop?.aborted && isPartial(outcome)) throw shuttingDown();
  signal.throwIfAborted();
  return keep(options, plan, outcome);
}

function shuttingDown(): Problem {
  return new Problem('shutting_down', { detail: 'This process is about to stop.' });
}

/** Keeps an outcome, unless what is kept already is better. */
function keep(options: FetchOptions, plan: Plan, outcome: Outcome): Entry {
  const entry = toEntry(options, plan, outcome);
  const kept = options.cache.get(plan.key);
  if (kept !== undefined && isWholeAndFresh(kept, options) && isPartial(outcome)) {
    return withoutStore(entry);
  }
  if (kept !== undefined && isLiveStill(kept, options) && isStopgap(outcome)) {
    if (!plan.useCache) return withoutStore(entry);
    // The reader gets the stale copy, which this would stand in for.
    throw new Problem('upstream_unavailable', { detail: 'The source could not be asked.' });
  }
  return { ...entry, views: options.cache.set(plan.key, entry) };
}

function withoutStore(entry: CacheEntry): Entry {
  return { ...entry, views: createViews(() => undefined) };
}

/** Asks the providers for what a plan wants. */
async function resolve(
  options: FetchOptions,
  plan: Plan,
  request: RequestContext,
): Promise<Outcome> {
  const { chain, memory, clock } = options;
  const { query } = plan;
  switch (query.kind) {
    case 'post': {
      const askedMs = clock.now();
      const { found, source, isLocal } = await chain.ask('post', query, withoutPool(request));
      return { found, source, isLocal, askedMs };
    }
    case 'browse': {
      const parts = createParts(options, plan);
      const { isLiveOnly } = plan;
      // Replies are counted as posts are.
      const own = query.list?.kind === 'replies' ? withoutPool(request) : request;
      return browse(query, { request: own, chain, memory, parts, clock, isLiveOnly });
    }
  }
}

/** Posts have an allowance of their own and are not taken out of the pool. */
function withoutPool({ takeRequest: _pool, ...request }: RequestContext): RequestContext {
  return request;
}

/** Makes the store of what pages of a list are put together from: the cache, under the plan's terms. */
function createParts(options: FetchOptions, plan: Plan): PartStore {
  const { cache, clock } = options;
  return {
    get: (key) => {
      const kept = plan.useCache ? cache.get(key) : undefined;
      if (kept === undefined || clock.now() >= kept.freshUntilMs) return undefined;
      return partOf(kept.outcome);
    },
    set: (key, part) => {
      const { source, isLocal, askedMs } = part;
      cache.set(key, toEntry(options, plan, { found: part, source, isLocal, askedMs }));
    },
  };
}

function partOf(outcome: Outcome): ListPart | undefined {
  if (!('found' in outcome)) return undefined;
  const { found } = outcome;
  return 'profile' in found || 'page' in found ? found : undefined;
}

function toEntry(options: FetchOptions, plan: Plan, outcome: Outcome): CacheEntry {
  const gone = 'gone' in outcome;
  const now = gone ? options.clock.now() : outcome.askedMs;
  const soon = isPartial(outcome) || (!gone && outcome.isLocal);
  const divisor = soon ? shortDivisor : freshnessDivisor[plan.freshness];
  const freshSeconds = gone ? options.notFoundSeconds : options.ttlSeconds / divisor;
  const freshUntilMs = now + freshSeconds * 1000;
  const spare = (seconds: number) => freshUntilMs + (gone || soon ? 0 : seconds * 1000);
  return {
    subjects: [plan.subject, ...(gone ? [] : subjectsOf(outcome.found))],
    outcome,
    fetchedAtMs: gone ? now : asOf(outcome.found, now),
    freshUntilMs,
    revalidateUntilMs: spare(options.staleWhileRevalidateSeconds),
    errorUntilMs: spare(options.staleIfErrorSeconds),
  };
}

function isPartial(outcome: Outcome): boolean {
  return 'found' in outcome && 'missing' in outcome.found && outcome.found.missing.length > 0;
}

/** What is better than nothing: the last resort's answer, and a page without the items it is about. */
function isStopgap(outcome: Outcome): boolean {
  if (!('found' in outcome && 'items' in outcome.found)) return false;
  const { degraded, items, missing } = outcome.found;
  return degraded || (items.length === 0 && missing.length > 0);
}

function isLiveStill({ outcome, errorUntilMs }: CacheEntry, { clock }: FetchOptions): boolean {
  return !('gone' in outcome) && !isStopgap(outcome) && clock.now() < errorUntilMs;
}

/** What is kept elsewhere tells when it was so; anything else is so now. */
function asOf(found: Found | ListPart, nowMs: number): number {
  return 'asOfMs' in found ? (found.asOfMs ?? nowMs) : nowMs;
}

/** A partial answer (to `nocache=true`, in an outage) takes the place of nothing that is better. */
function isWholeAndFresh({ outcome, freshUntilMs }: CacheEntry, { clock }: FetchOptions): boolean {
  return !('gone' in outcome) && !isPartial(outcome) && clock.now() < freshUntilMs;
}
