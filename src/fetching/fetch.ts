import type { Pool } from '../core/caller.ts';
import type { Clock } from '../core/clock.ts';
import type { RequestContext } from '../core/http/http-client.ts';
import { Problem } from '../core/problem.ts';
import { withDeadline } from '../core/scheduling/deadline.ts';
import type { Ledger } from '../core/scheduling/ledger.ts';
import { createCoalescer } from './cache/coalesce.ts';
import {
  type Entry,
  isPartial,
  type Lifetimes,
  type Outcome,
  type ResponseCache,
  storeEntry,
  toEntry,
} from './cache/response-cache.ts';
import { type ProviderChain, toNotLive } from './chain/provider-chain.ts';
import { atCost, overloaded, toTakeBytes, type Waiting } from './cost.ts';
import { browse, type PartStore } from './lists/browse.ts';
import type { WalkMemory } from './lists/given-items.ts';
import type { Answer, CacheState, Plan } from './plan.ts';

export interface FetchOptions extends Lifetimes {
  readonly chain: ProviderChain;
  readonly cache: ResponseCache;
  readonly memory: WalkMemory;
  readonly clock: Clock;
  readonly readTimeoutMs: number;
  /** Bounds the reads at upstreams (`upstreamReads`) and the bytes that they receive (`upstreamBytes`). */
  readonly ledger: Ledger;
  /** The upstream requests of browse reads are taken from it; absent if they are not counted. */
  readonly pool?: Pool | undefined;
  /** Called with a defect of a fetch in the background, which no caller sees. */
  readonly onDefect: (error: unknown) => void;
  readonly stop?: AbortSignal;
}

export type Fetcher = ReturnType<typeof createFetcher>;

export function createFetcher(options: FetchOptions) {
  const { cache, clock } = options;
  const join = createFlights(options);
  const background = new Set<Promise<unknown>>();
  const lookUp = ({ useCache, key }: Plan) => (useCache ? cache.get(key) : undefined);
  const isFresh = (kept: Entry) => clock.now() < kept.freshUntilMs;

  const revalidate = (plan: Plan): void => {
    const work = join(plan, undefined).catch((error: unknown) => {
      // The chain has reported a provider's failure, and the reader has the stale answer.
      if (!(error instanceof Problem)) options.onDefect(error);
    });
    background.add(work);
    void work.finally(() => background.delete(work));
  };
  const refetch = async (plan: Plan, kept: Entry | undefined, waiting: Waiting | undefined) => {
    try {
      return await atCost(waiting, async () =>
        toAnswer(await join(plan, waiting), plan.useCache ? 'miss' : 'bypass'),
      );
    } catch (error) {
      if (plan.isLiveOnly === true) throw toNotLive(error);
      const isUpstreamTrouble = error instanceof Problem && error.status >= 500;
      if (kept === undefined || !isUpstreamTrouble || clock.now() >= kept.errorUntilMs) throw error;
      return toAnswer(kept, 'stale');
    }
  };

  return {
    /** Returns a fresh answer of the cache. Throws Problem `not_found` if it is gone. */
    recall: (plan: Plan): Answer | undefined => {
      const kept = lookUp(plan);
      return kept !== undefined && isFresh(kept) ? toAnswer(kept, 'hit') : undefined;
    },
    /**
     * Returns the answer to a plan from the cache, a fetch under way, or a provider, which costs the
     * caller a unit. Throws Problem, see ProviderChain.ask; `overloaded` or `rate_limited` if a bound or
     * an allowance is used up; the signal's reason when the caller leaves.
     */
    fetch: async (plan: Plan, waiting?: Waiting): Promise<Answer> => {
      const kept = lookUp(plan);
      if (kept !== undefined && isFresh(kept)) return toAnswer(kept, 'hit');
      if (kept !== undefined && !plan.isLiveOnly && clock.now() < kept.revalidateUntilMs) {
        revalidate(plan);
        return toAnswer(kept, 'stale');
      }
      return refetch(plan, kept, waiting);
    },
    settle: async (): Promise<void> => {
      await Promise.allSettled(background);
    },
  };
}

function toAnswer({ outcome, fetchedAtMs, views }: Entry, cache: CacheState): Answer {
  if ('gone' in outcome) throw outcome.gone;
  const { found, source } = outcome;
  if ('profile' in found || 'page' in found) throw new Error('A part of a list is no answer.');
  return { found, source, fetchedAtMs, cache, views };
}

/** Creates the function that joins a plan to a fetch in flight, or begins one. Whoever begins it is charged for it. */
function createFlights(options: FetchOptions) {
  const { ledger, pool } = options;
  const run = createCoalescer<Entry>();
  const begin = async (plan: Plan, signal: AbortSignal, waiting?: Waiting): Promise<Entry> => {
    const client = waiting?.client ?? null;
    const slot = ledger.open('upstreamReads', client);
    const bytes = ledger.open('upstreamBytes', client);
    if (!slot.take(1)) throw overloaded('Too many reads wait for an upstream at the moment.');
    const takeRequest = pool && (() => pool.take(shareOf(waiting)));
    try {
      const takeBytes = toTakeBytes(bytes);
      return await fetchAndKeep(options, plan, { signal, client, takeBytes, takeRequest });
    } finally {
      bytes.release();
      slot.release();
    }
  };
  return async (plan: Plan, waiting: Waiting | undefined): Promise<Entry> => {
    // A read that skips the cache must not get an answer that another read has begun to put together.
    const flight = plan.useCache ? plan.key : `anew ${plan.key}`;
    let isOwn = false;
    try {
      return await run(flight, waiting?.signal, (shared) => {
        isOwn = true;
        return begin(plan, shared, waiting);
      });
    } catch (error) {
      const isRateLimited = error instanceof Problem && error.code === 'rate_limited';
      if (isOwn || !isRateLimited) throw error;
      // The caller that began it may draw on another part of the pool.
      const own = `${shareOf(waiting)} ${flight}`;
      return run(own, waiting?.signal, (shared) => begin(plan, shared, waiting));
    }
  };
}

function shareOf(waiting: Waiting | undefined) {
  return waiting?.caller?.share ?? 'anonymous';
}

async function fetchAndKeep(options: FetchOptions, plan: Plan, request: RequestContext) {
  const { stop, cache, clock, readTimeoutMs } = options;
  const signals = stop === undefined ? [request.signal] : [request.signal, stop];
  let outcome: Outcome;
  try {
    const work = (signal: AbortSignal) => resolve(options, plan, { ...request, signal });
    outcome = await withDeadline(readTimeoutMs, signals, work);
  } catch (error) {
    if (stop?.aborted) throw shuttingDown();
    if (!(error instanceof Problem) || error.code !== 'not_found') throw error;
    // What is confirmed gone is not served from an older copy, whatever its options were.
    cache.dropSubject(plan.subject, clock.now());
    outcome = { gone: error };
  }
  // An answer may be partial only because nobody waits any more.
  if (stop?.aborted && isPartial(outcome)) throw shuttingDown();
  request.signal.throwIfAborted();
  const nowMs = clock.now();
  const entry = toEntry(plan, outcome, { lifetimes: options, nowMs });
  return storeEntry(cache, plan, { entry, nowMs });
}

function shuttingDown(): Problem {
  return new Problem('shutting_down', { detail: 'This process is about to stop.' });
}

async function resolve(options: FetchOptions, plan: Plan, request: RequestContext) {
  const { chain, memory, clock } = options;
  const { query, isLiveOnly } = plan;
  // Posts and replies have an allowance of their own and are not taken out of the pool.
  const { takeRequest: _pool, ...free } = request;
  switch (query.kind) {
    case 'post': {
      const askedMs = clock.now();
      const { found, source, isLocal } = await chain.ask('post', query, free);
      return { found, source, isLocal, askedMs };
    }
    case 'browse': {
      const parts = createParts(options, plan);
      const own = query.list?.kind === 'replies' ? free : request;
      return browse(query, { request: own, chain, memory, parts, clock, isLiveOnly });
    }
  }
}

function createParts(options: FetchOptions, plan: Plan): PartStore {
  const { cache, clock } = options;
  return {
    get: (key) => {
      const kept = plan.useCache ? cache.get(key) : undefined;
      if (kept === undefined || clock.now() >= kept.freshUntilMs) return undefined;
      if ('gone' in kept.outcome) return undefined;
      const { found } = kept.outcome;
      return 'profile' in found || 'page' in found ? found : undefined;
    },
    set: (key, part) => {
      const { source, isLocal, askedMs } = part;
      const outcome = { found: part, source, isLocal, askedMs };
      cache.set(key, toEntry(plan, outcome, { lifetimes: options, nowMs: clock.now() }));
    },
  };
}
