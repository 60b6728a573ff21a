import type { HistoryStore } from '../../archive/histories/history-store.ts';
import type { Engine } from '../../core/engine/engine.ts';
import { watchEngineSpace } from '../../core/engine/engine-space.ts';
import { createResponseCache, type ResponseCache } from '../../fetching/cache/response-cache.ts';
import {
  openSharedResponses,
  type SharedResponses,
} from '../../fetching/cache/shared-responses.ts';
import { referenceOfSubject } from '../../fetching/cache/subjects.ts';
import { createSentItemsMemory } from '../../fetching/lists/sent-items.ts';
import { createSharedSentItems } from '../../fetching/lists/shared-sent-items.ts';
import type { AppBasics } from '../options.ts';
import type { FetchingOptions } from './fetching.ts';

export type Caches = ReturnType<typeof openCaches>;

/** Opens this instance's response cache and, with a shared engine, the cache of all instances. */
export function openCaches(options: FetchingOptions, historyStore: HistoryStore | undefined) {
  const { config, logger, sharedEngine } = options;
  const cache = createResponseCache({
    maxEntries: config.PERCH_CACHE_ENTRIES,
    maxBytes: config.PERCH_CACHE_BYTES,
    onGone: (subject, keys) => {
      purge(subject, historyStore, logger);
      for (const key of keys) shared?.remove(key);
    },
  });
  const shared = sharedEngine ? share(sharedEngine, options, () => cache) : undefined;
  const sharedSent = sharedEngine ? createSharedSentItems(sharedEngine) : undefined;
  return { cache, shared, memory: createSentItemsMemory(sharedSent) };
}

function share(
  engine: Engine,
  { config, clock }: FetchingOptions,
  cacheOf: () => ResponseCache,
): SharedResponses {
  const space = watchEngineSpace(engine);
  const shared = openSharedResponses({
    engine,
    clock,
    leaseMs: Math.max(minLeaseMs, timeoutsPerLease * config.PERCH_REDIS_TIMEOUT_MS),
    hasSpace: space.isFree,
    onGone: ({ subject, goneMs }) => cacheOf().dropSubject(subject, goneMs),
  });
  const close = () => {
    space.close();
    shared.close();
  };
  return { ...shared, close };
}

const timeoutsPerLease = 3;
const minLeaseMs = 150;

function purge(subject: string, store: HistoryStore | undefined, logger: AppBasics['logger']) {
  const gone = referenceOfSubject(subject);
  try {
    if (gone !== null) store?.deleteGone(gone);
  } catch (err) {
    logger.error({ err }, 'a deleted post or account could not be removed from stored histories');
  }
}
