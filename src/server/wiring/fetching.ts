import { createPrivateKey, createPublicKey } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type HistoryStore, openHistoryStore } from '../../archive/histories/history-store.ts';
import type { Config } from '../../config/config.ts';
import { createResponseCache, type ResponseCache } from '../../fetching/cache/response-cache.ts';
import {
  openSharedResponses,
  type SharedResponses,
} from '../../fetching/cache/shared-responses.ts';
import { referenceOfSubject } from '../../fetching/cache/subjects.ts';
import type { ProviderChain } from '../../fetching/chain/provider-chain.ts';
import { createFetcher, type FetchOptions } from '../../fetching/fetch.ts';
import {
  createHistoryImporter,
  type ImporterOptions,
} from '../../fetching/histories/import-history.ts';
import { createSentItemsMemory, createSharedSentItems } from '../../fetching/lists/sent-items.ts';
import { accountSubject } from '../../fetching/plan.ts';
import type { Pool } from '../../lib/caller.ts';
import { type HttpClientOptions, openHttpClient } from '../../lib/http/http-client.ts';
import { openPublicHttpClient } from '../../lib/http/public-http-client.ts';
import type { Engine } from '../../lib/redis/engine.ts';
import { watchEngineSpace } from '../../lib/redis/engine-report.ts';
import { createRepeatedLines } from '../../lib/repeated-lines.ts';
import type { HeavyTurns } from '../../lib/scheduling/fair-queue.ts';
import type { Quotas } from '../../lib/scheduling/quotas.ts';
import {
  createRsaKey,
  openSecret,
  openSecretText,
  openSharedSecret,
  openSharedText,
} from '../../lib/secret.ts';
import { type SearchPlatform, searchPlatforms } from '../../model/reference.ts';
import { createHostLimits } from '../../providers/hosts.ts';
import type { Provider } from '../../providers/provider.ts';
import { type ProviderSettings, providerFactories } from '../../providers/registry.ts';
import { createCursorCodec } from '../../reads/cursor.ts';
import type { PlanContext } from '../../reads/read.ts';
import { createReader } from '../../reads/run.ts';
import { type Actor, toActor } from '../../routes/discovery/actor-plugin.ts';
import type { AppContext, AppOptions } from '../context.ts';
import { createChain, toBreakerOptions } from './chain.ts';
import { openPictures, toPageContext } from './page-context.ts';

/** Options of `openFetching`. Only the server passes `countAnswer` and `pool`. */
export interface FetchingOptions
  extends AppContext,
    Pick<AppOptions, 'providers' | 'archive' | 'network'> {
  readonly countAnswer?: FetchOptions['countAnswer'];
  /** Limit on the upstream requests of all callers together; absent for no shared limit. */
  readonly pool?: Pool;
  /** Counter of each client's resources, shared by the HTTP, MCP and session routes. */
  readonly quotas: Quotas;
  readonly heavyTurns: HeavyTurns;
}

export type Fetching = Awaited<ReturnType<typeof openFetching>>;

/** Opens providers, caches and a reader of posts. Throws Error if the archive cannot be opened. */
export async function openFetching(options: FetchingOptions) {
  const { config, clock, logger, quotas, pool, redis } = options;
  // Opened first, because these can fail.
  const [cursorKey, actor] = [await openCursorKey(options), await openActor(options)];
  const limits = toLimits(options);
  const http = openHttpClient(limits);
  const publicHttp = openPublicHttpClient(limits, options.network);
  const settings = toSettings(config, { http, publicHttp, clock, signingKey: actor }, redis);
  const providers = options.providers ?? openProviders(options, settings);
  const chain = createChain(providers, options);
  const historyStore = openStoredHistories(config, chain, settings);
  const caches = openCaches(options, historyStore);
  const stopping = new AbortController();
  const stop = stopping.signal;
  setMaxListeners(0, stop); // each running read adds a listener
  const fetcher = createFetcher({
    chain,
    ...caches,
    clock,
    ttlSeconds: config.PERCH_CACHE_TTL_SECONDS,
    staleWhileRevalidateSeconds: config.PERCH_STALE_WHILE_REVALIDATE_SECONDS,
    staleIfErrorSeconds: config.PERCH_STALE_IF_ERROR_SECONDS,
    notFoundSeconds: config.PERCH_NOT_FOUND_CACHE_SECONDS,
    readTimeoutMs: config.PERCH_READ_TIMEOUT_MS,
    quotas,
    stop,
    pool,
    countAnswer: options.countAnswer,
    onDefect: (err) => logger.error({ err }, 'a background fetch failed because of a defect'),
  });
  const pictured = openPictures({ ...options, secret: cursorKey, limits, stop });
  const planning = toPlanContext(providers, config, cursorKey);
  const context = { ...planning, ...toPageContext(options), ...pictured.context };
  return {
    reader: createReader(fetcher, context),
    importer: createImporter(options, { chain, historyStore, stop }, caches),
    context,
    actor,
    chain,
    cache: caches.cache,
    pictures: pictured.pictures,
    /** Aborts fetches and rejects later ones, all with the Problem `shutting_down`. */
    stop: () => stopping.abort(),
    /** Closes HTTP connections, waits for background fetches, and then closes the stores. */
    close: async () => {
      await Promise.all([http.close(), publicHttp.close(), pictured.close()]);
      await fetcher.drain();
      caches.shared?.close();
      chain.close();
      historyStore?.close();
    },
  };
}

function openProviders({ config, archive }: FetchingOptions, settings: ProviderSettings) {
  const factories = archive ? { ...providerFactories, archive: () => archive } : providerFactories;
  return config.PERCH_PROVIDERS.map((name) => factories[name](settings));
}

type Caches = ReturnType<typeof openCaches>;

function openCaches(options: FetchingOptions, historyStore: HistoryStore | undefined) {
  const { config, logger, redis } = options;
  const cache = createResponseCache({
    maxEntries: config.PERCH_CACHE_ENTRIES,
    maxBytes: config.PERCH_CACHE_BYTES,
    onGone: (subject, keys) => {
      purge(subject, historyStore, logger);
      for (const key of keys) shared?.remove(key);
    },
  });
  const shared = redis ? share(redis, options, () => cache) : undefined;
  const sharedSent = redis ? createSharedSentItems(redis) : undefined;
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

function purge(subject: string, store: HistoryStore | undefined, logger: AppContext['logger']) {
  const gone = referenceOfSubject(subject);
  try {
    if (gone !== null) store?.deleteGone(gone);
  } catch (err) {
    logger.error({ err }, 'a deleted post or account could not be removed from stored histories');
  }
}

/** Opens the store; `undefined` if it is off. If opening fails, closes `chain` and throws. */
function openStoredHistories(
  config: Config,
  chain: ProviderChain,
  { archivePath }: Pick<ProviderSettings, 'archivePath'>,
): HistoryStore | undefined {
  if (!config.PERCH_ARCHIVE_HISTORY) return undefined;
  try {
    return openHistoryStore({
      path: archivePath,
      baseUrl: config.PERCH_BASE_URL,
      maxBytes: config.PERCH_ARCHIVE_HISTORY_BYTES,
    });
  } catch (error) {
    chain.close();
    throw error;
  }
}

/** Approximate seconds to load a history page, to choose how many are loaded at the same time. */
const pageSeconds = 3;

function createImporter(
  { config, clock, pool, quotas, logger }: FetchingOptions,
  parts: Pick<ImporterOptions, 'chain' | 'historyStore' | 'stop'>,
  { cache, shared }: Caches,
) {
  const repeated = createRepeatedLines(clock);
  // Number of requests that FxTwitter's rate limit allows while one page is loaded.
  const requests = Math.floor((config.PERCH_FXTWITTER_PER_MINUTE / 60) * pageSeconds);
  return createHistoryImporter({
    ...parts,
    clock,
    pool,
    concurrency: Math.min(config.PERCH_HISTORY_CONCURRENCY, Math.max(1, requests)),
    firstTimeoutMs: config.PERCH_READ_TIMEOUT_MS,
    timeoutMs: config.PERCH_HISTORY_TIMEOUT_MS,
    quotas,
    onStoreFailure: (err) =>
      repeated('history', (count) =>
        logger.error({ err, ...count }, 'a stored history could not be read or written'),
      ),
    onGone: ({ platform, handle }) => {
      const gone = { subject: accountSubject(platform, handle), goneMs: clock.now() };
      cache.dropSubject(gone.subject, gone.goneMs);
      shared?.announceGone(gone);
    },
  });
}

type LimitsOptions = Pick<FetchingOptions, 'config' | 'clock' | 'random' | 'heavyTurns'>;

/** Returns the options of the HTTP clients that send requests to upstream servers. */
export function toLimits({ config, clock, random, heavyTurns }: LimitsOptions): HttpClientOptions {
  return {
    connectTimeoutMs: config.PERCH_CONNECT_TIMEOUT_MS,
    attemptTimeoutMs: config.PERCH_ATTEMPT_TIMEOUT_MS,
    maxBytes: config.PERCH_UPSTREAM_MAX_BYTES,
    userAgent: config.PERCH_USER_AGENT,
    clock,
    random,
    heavyTurns,
  };
}

function toPlanContext(providers: readonly Provider[], config: Config, key: Buffer): PlanContext {
  return {
    baseUrl: config.PERCH_BASE_URL,
    xMirrors: config.PERCH_X_MIRRORS,
    mastodonSearchHost: config.PERCH_MASTODON_SEARCH_HOST,
    cursors: createCursorCodec(key),
    searchPlatform: defaultSearchPlatform(providers),
    embedSeconds: config.PERCH_CACHE_TTL_SECONDS,
  };
}

/** Opens the instance actor with its key, created if missing; `null` unless `PERCH_ACTOR`. */
async function openActor({ config, random, redis }: AppContext): Promise<Actor | null> {
  if (!config.PERCH_ACTOR) return null;
  const pem = redis
    ? await openSharedText(redis, 'actor', createRsaKey)
    : openSecretText(`${config.PERCH_DATA_DIR}/actor.key`, random);
  const privateKey = createPrivateKey(pem);
  const publicKey = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
  return toActor(config.PERCH_BASE_URL, { privateKey, publicKeyPem: publicKey.toString() });
}

async function openCursorKey({ config, random, redis }: FetchingOptions): Promise<Buffer> {
  const { PERCH_CURSOR_KEY: key, PERCH_DATA_DIR: folder } = config;
  if (key !== undefined) return Buffer.from(key);
  if (redis !== null) return openSharedSecret(redis, 'cursor', random);
  return folder === ':memory:' ? random.bytes(32) : openSecret(`${folder}/cursor.key`, random);
}

function defaultSearchPlatform(providers: readonly Provider[]): SearchPlatform {
  const query = { kind: 'search', text: '', feed: 'latest', cursor: null, count: 1 } as const;
  const anyTime = { sinceSeconds: null, untilSeconds: null };
  const live = searchPlatforms.filter((one) => one !== 'archive' && one !== 'sample');
  for (const provider of providers) {
    const search = { ...query, ...anyTime };
    const found = live.find((platform) => provider.covers({ ...search, platform }) === true);
    if (provider.ask.search !== undefined && found !== undefined) return found;
  }
  return 'archive';
}

export function toSettings(
  config: Config,
  shared: Pick<ProviderSettings, 'http' | 'publicHttp' | 'clock' | 'signingKey'>,
  engine: Engine | null,
): ProviderSettings {
  const folder = config.PERCH_DATA_DIR;
  return {
    ...shared,
    baseUrl: config.PERCH_BASE_URL,
    archivePath: folder === ':memory:' ? folder : `${folder}/archive.db`,
    sample: config.PERCH_SAMPLE,
    fxtwitterUrl: config.PERCH_FXTWITTER_URL,
    fxtwitterPerMinute: config.PERCH_FXTWITTER_PER_MINUTE,
    countInstances: () => engine?.state.instances ?? 1,
    syndicationUrl: config.PERCH_SYNDICATION_URL,
    blueskyUrl: config.PERCH_BLUESKY_URL,
    blueskySearchUrl: config.PERCH_BLUESKY_SEARCH_URL,
    mastodonSearchHost: config.PERCH_MASTODON_SEARCH_HOST,
    readTimeoutMs: config.PERCH_READ_TIMEOUT_MS,
    callHost: createHostLimits({
      clock: shared.clock,
      breaker: toBreakerOptions(config),
      maxPerHost: config.PERCH_UPSTREAM_READS_PER_HOST,
    }),
  };
}
