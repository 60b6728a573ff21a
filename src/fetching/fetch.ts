import type { Pool } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import type { RequestContext } from '../core/http/http-client.ts';
import { Problem } from '../core/problem.ts';
import { withDeadline } from '../core/scheduling/deadline.ts';
import type { Ledger } from '../core/scheduling/ledger.ts';
import { createCoalescer } from './cache/coalesce.ts';
import {
  type CacheEntry,
  type Entry,
  isPartial,
  type Lifetimes,
  type Outcome,
  type ResponseCache,
  storeEntry,
  toEntry,
} from './cache/response-cache.ts';
import type { SharedResponses } from './cache/shared-responses.ts';
import { type ProviderChain, toLiveOnlyError } from './chain/provider-chain.ts';
import { overloaded, type Requester, toTakeBytes, withCharge } from './cost.ts';
import { browse, type PartStore } from './lists/browse.ts';
import type { SentItemsMemory } from './lists/sent-items.ts';
import type { Answer, CacheState, Plan } from './plan.ts';

export interface FetchOptions extends Lifetimes {
  readonly chain: ProviderChain;
  readonly cache: ResponseCache;
  /** Response cache that all instances share; absent if there is only one instance. */
  readonly shared?: SharedResponses | undefined;
  readonly memory: SentItemsMemory;
  readonly clock: Clock;
  readonly readTimeoutMs: number;
  /** Limits on concurrent upstream reads (`upstreamReads`) and on the bytes of their responses (`upstreamBytes`). */
  readonly ledger: Ledger;
  /** Limit on upstream requests for lists and searches, shared by all callers; `undefined` for no limit. */
  readonly pool?: Pool | undefined;
  /** Called with unexpected errors of background fetches, because no caller receives them. */
  readonly onDefect: (error: unknown) => void;
  readonly stop?: AbortSignal;
}

export type Fetcher = ReturnType<typeof createFetcher>;

export function createFetcher(options: FetchOptions) {
  const { cache, clock } = options;
  const join = createInFlightFetches(options);
  const background = new Set<Promise<unknown>>();
  const lookUp = ({ useCache, key }: Plan) => (useCache ? cache.get(key) : undefined);
  const isFresh = (cached: Entry) => clock.now() < cached.freshUntilMs;
  const revalidate = (plan: Plan): void => {
    const work = join(plan, undefined).catch((error: unknown) => {
      // The provider chain has logged the failure, and the caller has received the stale answer.
      if (!(error instanceof Problem)) options.onDefect(error);
    });
    background.add(work);
    void work.finally(() => background.delete(work));
  };
  const refetch = async (plan: Plan, cached: Entry | undefined, requester?: Requester) => {
    try {
      return await withCharge(requester, async () =>
        toAnswer(await join(plan, requester), plan.useCache ? 'miss' : 'bypass'),
      );
    } catch (error) {
      if (plan.isLiveOnly === true) throw toLiveOnlyError(error);
      const isOutage = error instanceof Problem && error.status >= 500;
      if (cached === undefined || !isOutage || clock.now() >= cached.errorUntilMs) throw error;
      return toAnswer(cached, 'stale');
    }
  };
  return {
    /** Returns a fresh cached answer, or `undefined`. @throws Problem `not_found` if the cache has this error */
    getFresh: (plan: Plan): Answer | undefined => {
      const cached = lookUp(plan);
      return cached !== undefined && isFresh(cached) ? toAnswer(cached, 'hit') : undefined;
    },
    /**
     * Returns the answer to a plan from the cache, an in-flight fetch or a provider. Cached answers are not charged.
     * @throws Problem, see ProviderChain.ask; `overloaded`, `rate_limited`; the abort reason of `requester.signal`
     */
    fetch: async (plan: Plan, requester?: Requester): Promise<Answer> => {
      const own = lookUp(plan);
      const isCurrent = own !== undefined && isFresh(own);
      const cached = isCurrent ? own : ((await readShared(options, plan)) ?? own);
      if (cached !== undefined && isFresh(cached)) return toAnswer(cached, 'hit');
      if (cached !== undefined && !plan.isLiveOnly && clock.now() < cached.revalidateUntilMs) {
        revalidate(plan);
        return toAnswer(cached, 'stale');
      }
      return refetch(plan, cached, requester);
    },
    /** Waits until all background revalidations have ended. */
    drain: async (): Promise<void> => {
      await Promise.allSettled(background);
    },
  };
}

function toAnswer({ outcome, fetchedAtMs, renderings }: Entry, cache: CacheState): Answer {
  if ('gone' in outcome) throw outcome.gone;
  const { found, source } = outcome;
  if ('profile' in found || 'page' in found) throw new Error('A part of a list is not an answer.');
  return { found, source, fetchedAtMs, cache, renderings };
}

/** Creates a function that joins the in-flight fetch of a plan, or starts a fetch within the requester's limits. */
function createInFlightFetches(options: FetchOptions) {
  const { ledger, pool } = options;
  const run = createCoalescer<Entry>();
  const begin = async (plan: Plan, signal: AbortSignal, requester?: Requester): Promise<Entry> => {
    const client = requester?.client ?? null;
    const slot = ledger.open('upstreamReads', client);
    const bytes = ledger.open('upstreamBytes', client);
    if (!slot.take(1)) throw overloaded('Too many reads are waiting for upstreams.');
    const takeRequest = pool && (() => pool.take(shareOf(requester)));
    try {
      const takeBytes = toTakeBytes(bytes);
      return await fetchOnce(options, plan, { signal, client, takeBytes, takeRequest });
    } finally {
      bytes.release();
      slot.release();
    }
  };
  return async (plan: Plan, requester: Requester | undefined): Promise<Entry> => {
    // A read that skips the cache must not join a fetch that may use cached parts.
    const flightKey = plan.useCache ? plan.key : `anew ${plan.key}`;
    let isOwn = false;
    try {
      return await run(flightKey, requester?.signal, (shared) => {
        isOwn = true;
        return begin(plan, shared, requester);
      });
    } catch (error) {
      const isRateLimited = error instanceof Problem && error.code === 'rate_limited';
      if (isOwn || !isRateLimited) throw error;
      // The first caller may have another share of the request budget, so this caller starts its own fetch.
      const own = `${shareOf(requester)} ${flightKey}`;
      return run(own, requester?.signal, (shared) => begin(plan, shared, requester));
    }
  };
}

const shareOf = (requester: Requester | undefined) => requester?.caller?.share ?? 'anonymous';

/** Copies an entry of the shared cache to this instance's cache. Returns it, or `undefined` if it is not newer. */
async function readShared(
  { shared, cache }: FetchOptions,
  { key, useCache }: Plan,
): Promise<Entry | undefined> {
  const entry = useCache ? await shared?.read(key) : undefined;
  const own = cache.get(key);
  if (entry === undefined || cache.isOutdated(entry)) return undefined;
  if (own !== undefined && own.freshUntilMs >= entry.freshUntilMs) return undefined;
  return { ...entry, renderings: cache.set(key, entry) };
}

/** Fetches an answer. If another instance is already fetching it, returns the entry of that instance instead. */
async function fetchOnce(options: FetchOptions, plan: Plan, request: RequestContext) {
  const { shared, cache } = options;
  const lease = plan.useCache ? await shared?.claim(plan.key, request.signal) : undefined;
  if (lease !== undefined && !('publish' in lease)) {
    return { ...lease, renderings: cache.set(plan.key, lease) };
  }
  try {
    const entry = await fetchAndStore(options, plan, request);
    const { renderings: _, ...stored } = entry;
    if (isSharable(entry)) lease?.publish(stored);
    else lease?.release();
    return entry;
  } catch (error) {
    lease?.release();
    throw error;
  }
}

/** Returns whether other instances may use an entry. Answers from the archive of this instance are not shared. */
const isSharable = ({ outcome }: CacheEntry): boolean => 'gone' in outcome || !outcome.isLocal;

async function fetchAndStore(options: FetchOptions, plan: Plan, request: RequestContext) {
  const { stop, cache, clock, readTimeoutMs } = options;
  const signals = stop === undefined ? [request.signal] : [request.signal, stop];
  let outcome: Outcome;
  try {
    const work = (signal: AbortSignal) => resolve(options, plan, { ...request, signal });
    outcome = await withDeadline(readTimeoutMs, signals, work);
  } catch (error) {
    if (stop?.aborted) throw shuttingDown();
    if (!(error instanceof Problem) || error.code !== 'not_found') throw error;
    // A confirmed deletion also removes older copies, whatever their options were.
    const gone = { subject: plan.subject, goneMs: clock.now() };
    cache.dropSubject(gone.subject, gone.goneMs);
    options.shared?.announceGone(gone);
    outcome = { gone: error };
  }
  // The answer may be partial because the process is stopping.
  if (stop?.aborted && isPartial(outcome)) throw shuttingDown();
  request.signal.throwIfAborted();
  const nowMs = clock.now();
  const entry = toEntry(plan, outcome, { lifetimes: options, nowMs });
  return storeEntry(cache, plan, { entry, nowMs });
}

const shuttingDown = (): Problem =>
  new Problem('shutting_down', { detail: 'The server is shutting down.' });

async function resolve(options: FetchOptions, plan: Plan, request: RequestContext) {
  const { chain, memory, clock } = options;
  const { query, isLiveOnly } = plan;
  // Posts and replies do not count against the shared budget of upstream requests.
  const { takeRequest: _pool, ...free } = request;
  switch (query.kind) {
    case 'post': {
      const requestedMs = clock.now();
      const { found, source, isLocal } = await chain.ask('post', query, free);
      return { found, source, isLocal, requestedMs };
    }
    case 'browse': {
      const parts = createParts(options, plan);
      const own = query.list?.kind === 'replies' ? free : request;
      return browse(query, { request: own, chain, memory, parts, clock, isLiveOnly });
    }
  }
}

function createParts(options: FetchOptions, plan: Plan): PartStore {
  const { cache, clock, shared } = options;
  const findFresh = async (key: string): Promise<Entry | undefined> => {
    const isFresh = (entry?: Entry) => entry !== undefined && clock.now() < entry.freshUntilMs;
    const own = plan.useCache ? cache.get(key) : undefined;
    const cached = isFresh(own) ? own : await readShared(options, { ...plan, key });
    return isFresh(cached) ? cached : undefined;
  };
  return {
    get: async (key) => {
      const cached = await findFresh(key);
      if (cached === undefined) return undefined;
      if ('gone' in cached.outcome) return undefined;
      const { found } = cached.outcome;
      return 'profile' in found || 'page' in found ? found : undefined;
    },
    set: (key, part) => {
      const { source, isLocal, requestedMs } = part;
      const outcome = { found: part, source, isLocal, requestedMs };
      const entry = toEntry(plan, outcome, { lifetimes: options, nowMs: clock.now() });
      cache.set(key, entry);
      if (isSharable(entry)) shared?.write(key, entry);
    },
  };
}
