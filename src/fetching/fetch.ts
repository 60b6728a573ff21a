import type { Pool } from '../lib/caller.ts';
import type { Clock } from '../lib/clock.ts';
import type { RequestContext } from '../lib/http/http-client.ts';
import { Problem } from '../lib/problem.ts';
import { createCoalescer } from '../lib/scheduling/coalesce.ts';
import { openDeadline } from '../lib/scheduling/deadline.ts';
import type { Quotas } from '../lib/scheduling/quotas.ts';
import { endWith, type TraceSpan } from '../lib/tracing/tracing.ts';
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
import { browse, type PartStore } from './lists/fetch-page.ts';
import { keepPosition } from './lists/item-places.ts';
import type { SentItemsMemory } from './lists/sent-items.ts';
import { type Answer, type CacheState, type Plan, pageIn } from './plan.ts';

export interface FetchOptions extends Lifetimes {
  readonly chain: ProviderChain;
  readonly cache: ResponseCache;
  /** Response cache that all instances share; absent if there is only one instance. */
  readonly shared?: SharedResponses | undefined;
  readonly memory: SentItemsMemory;
  readonly clock: Clock;
  readonly readTimeoutMs: number;
  /** Limits on concurrent upstream reads and on the total bytes of their responses. */
  readonly quotas: Quotas;
  /** Rate limit on the upstream requests of all callers. Posts and replies are not counted. */
  readonly pool?: Pool | undefined;
  /** Called with unexpected errors of background fetches, because no caller receives them. */
  readonly onDefect: (error: unknown) => void;
  /** Called with each returned answer, for the metrics. */
  readonly countAnswer?: ((answer: Answer, plan: Plan) => void) | undefined;
  readonly stop?: AbortSignal;
}

export type Fetcher = ReturnType<typeof createFetcher>;

export function createFetcher(options: FetchOptions) {
  const { clock } = options;
  const join = createInFlightFetches(options);
  const background = new Set<Promise<unknown>>();
  const revalidate = (plan: Plan, requester: Requester | undefined): void => {
    const span = requester?.span?.startLinked('revalidation');
    const work = endWith(span, join(plan, undefined, span)).catch((error: unknown) => {
      // The provider chain has logged the failure, and the caller has received the stale answer.
      if (!(error instanceof Problem)) options.onDefect(error);
    });
    background.add(work);
    void work.finally(() => background.delete(work));
  };
  const refetch = async (plan: Plan, cached: Entry | undefined, requester?: Requester) => {
    try {
      return await withCharge(requester, async () =>
        toAnswer(await join(plan, requester, requester?.span), plan.useCache ? 'miss' : 'bypass'),
      );
    } catch (error) {
      if (plan.isLiveOnly === true) throw toLiveOnlyError(error);
      const isOutage = error instanceof Problem && error.status >= 500;
      if (cached === undefined || !isOutage || clock.now() >= cached.errorUntilMs) throw error;
      return toAnswer(cached, 'stale');
    }
  };
  return {
    /** Returns a fresh cached answer. @throws Problem `not_found` if the cache stores this error */
    getFresh: (plan: Plan, span?: TraceSpan | undefined): Answer | undefined => {
      const cached = plan.useCache ? options.cache.get(plan.key) : undefined;
      if (cached === undefined || clock.now() >= cached.freshUntilMs) return undefined;
      if (span !== undefined) traceHit(span);
      const answer = toAnswer(cached, 'hit');
      options.countAnswer?.(answer, plan);
      return answer;
    },
    /**
     * Returns an answer from the cache (free of charge), an in-flight fetch or a provider.
     * @throws Problem of `ProviderChain.ask`; Problem `overloaded` or `rate_limited`; the abort
     *   reason of `requester.signal`
     */
    fetch: async (plan: Plan, requester?: Requester): Promise<Answer> => {
      const search = requester?.span?.startChild('cache');
      const { cached, state } = await endWith(search, findCached(options, plan, search));
      const isUsable = cached !== undefined && (state === 'hit' || state === 'stale');
      if (state === 'stale') revalidate(plan, requester);
      const answer = isUsable ? toAnswer(cached, state) : await refetch(plan, cached, requester);
      requester?.span?.set({ 'perch.cache.state': answer.cache });
      options.countAnswer?.(answer, plan);
      return answer;
    },
    /** Stores what the next page needs if it continues after `count` items of the answer. */
    keepPosition: async (plan: Plan, answer: Answer, count: number): Promise<void> => {
      if (plan.query.kind !== 'browse') return;
      const { source, isLocal, requestedMs } = answer;
      const { memory } = options;
      const facts = { source, isLocal, requestedMs };
      const keeping = { memory, parts: createParts(options, plan), facts };
      await keepPosition(plan.query, { found: pageIn(answer), count }, keeping);
    },
    /** Waits until all background revalidations have ended. */
    drain: async (): Promise<void> => {
      await Promise.allSettled(background);
    },
  };
}

async function findCached(options: FetchOptions, plan: Plan, span: TraceSpan | undefined) {
  const { cache, clock } = options;
  const own = plan.useCache ? cache.get(plan.key) : undefined;
  const isEnough = options.shared === undefined || (own && clock.now() < own.freshUntilMs);
  const cached = isEnough ? own : ((await readShared(options, plan)) ?? own);
  const state = plan.useCache ? stateOf(plan, cached, clock.now()) : 'bypass';
  span?.set({ 'perch.cache.state': state });
  return { cached, state };
}

function stateOf({ isLiveOnly }: Plan, cached: Entry | undefined, nowMs: number): CacheState {
  if (cached === undefined) return 'miss';
  if (nowMs < cached.freshUntilMs) return 'hit';
  return !isLiveOnly && nowMs < cached.revalidateUntilMs ? 'stale' : 'miss';
}

function traceHit(span: TraceSpan): void {
  const attributes = { 'perch.cache.state': 'hit' };
  span.startChild('cache', { attributes }).end();
  span.set(attributes);
}

function toAnswer({ outcome, fetchedAtMs, renderings }: Entry, cache: CacheState): Answer {
  if ('gone' in outcome) throw outcome.gone;
  const { found, ...facts } = outcome;
  if ('profile' in found || 'page' in found) throw new Error('A part of a list is not an answer.');
  return { found, ...facts, fetchedAtMs, cache, renderings };
}

function createInFlightFetches(options: FetchOptions) {
  const { quotas, pool } = options;
  const run = createCoalescer<Entry>();
  const leaders = new Map<string, TraceSpan>();
  const begin = async ({ plan, requester, span }: Flight, signal: AbortSignal): Promise<Entry> => {
    const client = requester?.client ?? null;
    const slot = quotas.open('upstreamReads', client);
    const bytes = quotas.open('upstreamBytes', client);
    if (!slot.take(slotsOf(plan, quotas)))
      throw overloaded('Too many reads are waiting for upstreams.');
    const takeRequest = pool && (() => pool.take(shareOf(requester)));
    try {
      const takeBytes = toTakeBytes(bytes);
      return await fetchOnce(options, plan, {
        ...{ signal, client, takeBytes, takeRequest, span },
      });
    } finally {
      bytes.release();
      slot.release();
    }
  };
  const join = (key: string, flight: Flight) => {
    const { requester, span } = flight;
    let isOwn = false;
    const lead = (signal: AbortSignal): Promise<Entry> => {
      isOwn = true; // `run` calls this function at once, or never
      if (span === undefined) return begin(flight, signal);
      leaders.set(key, span);
      return begin(flight, signal).finally(() => {
        if (leaders.get(key) === span) leaders.delete(key);
      });
    };
    const fetched = run(key, requester?.signal, lead);
    if (isOwn || span === undefined) return { isOwn, fetched };
    const attributes = { 'perch.wait.for': 'request' };
    const wait = span.startChild('wait', { attributes, links: [leaders.get(key)] });
    return { isOwn, fetched: endWith(wait, fetched) };
  };
  return async (
    plan: Plan,
    requester: Requester | undefined,
    span: TraceSpan | undefined,
  ): Promise<Entry> => {
    // A read that skips the cache must not join a fetch that may use cached parts.
    const flightKey = plan.useCache ? plan.key : `anew ${plan.key}`;
    const flight = { plan, requester, span };
    const { isOwn, fetched } = join(flightKey, flight);
    try {
      return await fetched;
    } catch (error) {
      const isRateLimited = error instanceof Problem && error.code === 'rate_limited';
      if (isOwn || !isRateLimited) throw error;
      // The first caller may have used up its share of the request budget, so this caller starts
      // its own fetch.
      return join(`${shareOf(requester)} ${flightKey}`, flight).fetched;
    }
  };
}

interface Flight {
  readonly plan: Plan;
  readonly requester: Requester | undefined;
  readonly span: TraceSpan | undefined;
}

const wholeThreadSlots = 16;

/** Returns how many of a client's upstream reads a read counts as; a whole thread asks many hosts. */
const slotsOf = ({ query }: Plan, { bounds }: Quotas): number =>
  query.kind === 'post' && query.thread === 'whole'
    ? Math.min(wholeThreadSlots, bounds.upstreamReads.perAddress)
    : 1;

const shareOf = (requester: Requester | undefined) => requester?.caller?.share ?? 'anonymous';

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

async function fetchOnce(options: FetchOptions, plan: Plan, request: RequestContext) {
  const { shared, cache } = options;
  if (!plan.useCache || shared === undefined) return fetchAndStore(options, plan, request);
  const lease = await claim(shared, plan, request);
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

function claim(shared: SharedResponses, { key }: Plan, { signal, span }: RequestContext) {
  const wait = span?.startChild('wait', { attributes: { 'perch.wait.for': 'instance' } });
  return endWith(wait, shared.claim(key, signal));
}

const isSharable = ({ outcome }: CacheEntry): boolean => 'gone' in outcome || !outcome.isLocal;

async function fetchAndStore(options: FetchOptions, plan: Plan, request: RequestContext) {
  const { stop, cache, clock, readTimeoutMs } = options;
  const signals = stop === undefined ? [request.signal] : [request.signal, stop];
  const deadline = openDeadline(readTimeoutMs, signals);
  let outcome: Outcome;
  try {
    outcome = await resolve(options, plan, { ...request, signal: deadline.signal });
  } catch (error) {
    if (stop?.aborted) throw shuttingDown();
    if (!(error instanceof Problem) || error.code !== 'not_found') throw error;
    // A confirmed deletion also removes older copies, whatever their options were.
    const gone = { subject: plan.subject, goneMs: clock.now() };
    cache.dropSubject(gone.subject, gone.goneMs);
    options.shared?.announceGone(gone);
    outcome = { gone: error };
  } finally {
    deadline.close();
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
