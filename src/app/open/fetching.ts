import { setMaxListeners } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import type { HistoryKeep } from '../../archive/histories/history-keep.ts';
import { openHistoryKeep } from '../../archive/histories/kept-histories.ts';
import type { Config } from '../../config/config.ts';
import type { Pool } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { type HttpClientOptions, openHttpClient } from '../../core/http/http-client.ts';
import { openPublicHttpClient } from '../../core/http/public-http-client.ts';
import type { PublicHttpOptions } from '../../core/http/public-network.ts';
import type { Random } from '../../core/random.ts';
import type { Ledger } from '../../core/scheduling/ledger.ts';
import type { Turns } from '../../core/scheduling/turns.ts';
import { openSecret } from '../../core/secret.ts';
import { createResponseCache, type ResponseCache } from '../../fetching/cache/response-cache.ts';
import { referenceOfSubject } from '../../fetching/cache/subjects.ts';
import { createProviderChain, type ProviderChain } from '../../fetching/chain/provider-chain.ts';
import { createGates } from '../../fetching/chain/provider-gate.ts';
import { createFetcher, type Fetcher } from '../../fetching/fetch.ts';
import {
  createHistoryImporter,
  type HistoryImporter,
} from '../../fetching/histories/import-history.ts';
import { createWalkMemory } from '../../fetching/lists/given-items.ts';
import { accountSubject } from '../../fetching/plan.ts';
import { type SearchPlatform, searchPlatforms } from '../../model/reference.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { BreakerOptions } from '../../providers/gate.ts';
import type { Provider } from '../../providers/provider.ts';
import { type ProviderSettings, providerFactories } from '../../providers/registry.ts';
import { createCursorCodec } from '../../reads/cursor.ts';
import type { PlanContext } from '../../reads/read.ts';
import { createReader, type Reader } from '../../reads/run.ts';

/** What tests put in the place of the real thing. */
export interface FetchingOverrides {
  /** The providers, instead of those that the configuration names. They are closed with the rest. */
  readonly providers?: readonly Provider[];
  /** Watches what is answered; the command line has none. */
  readonly countAnswers?: (fetcher: Fetcher) => Fetcher;
  /** What upstream requests of browse reads are taken from; the command line has none. */
  readonly pool?: Pool;
  /** The network behind the hosts that requests name. No setting leads here. */
  readonly network?: PublicHttpOptions;
}

export interface FetchingOptions extends FetchingOverrides {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: FastifyBaseLogger;
  readonly ledger: Ledger;
  readonly heavyTurns: Turns;
}

/** Everything behind the surfaces: HTTP and the command line use the same. */
export interface Fetching {
  readonly reader: Reader;
  readonly importer: HistoryImporter;
  readonly context: PlanContext;
  readonly chain: ProviderChain;
  readonly cache: Pick<ResponseCache, 'size' | 'bytes'>;
  /** Ends the fetches that are under way, and every later one, with Problem `shutting_down`. */
  stop(): void;
  /** Waits for work in the background, then closes stores and connections. */
  close(): Promise<void>;
}

/** Opens the outbound client, the providers and the cache. Throws `Error` if the archive cannot be opened. */
export function openFetching(options: FetchingOptions): Fetching {
  const { config, clock } = options;
  const cursorKey = openCursorKey(config, options.random); // it may fail while nothing is open yet
  const limits = toLimits(options);
  const http = openHttpClient(limits);
  const publicHttp = openPublicHttpClient(limits, options.network);
  const settings = toSettings(config, { http, publicHttp, clock });
  const providers =
    options.providers ?? config.PERCH_PROVIDERS.map((name) => providerFactories[name](settings));
  const chain = createChain(providers, options);
  const keep = openKeep(config, chain, settings);
  const cache = createResponseCache({
    maxEntries: config.PERCH_CACHE_ENTRIES,
    maxBytes: config.PERCH_CACHE_BYTES,
    onGone: createForget(keep, options),
  });
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal); // every read under way listens
  const fetcher = createFetcher({
    chain,
    cache,
    memory: createWalkMemory(),
    clock,
    ttlSeconds: config.PERCH_CACHE_TTL_SECONDS,
    staleWhileRevalidateSeconds: config.PERCH_STALE_WHILE_REVALIDATE_SECONDS,
    staleIfErrorSeconds: config.PERCH_STALE_IF_ERROR_SECONDS,
    notFoundSeconds: config.PERCH_NOT_FOUND_CACHE_SECONDS,
    readTimeoutMs: config.PERCH_READ_TIMEOUT_MS,
    ledger: options.ledger,
    stop: stopping.signal,
    pool: options.pool,
    onDefect: (err) => options.logger.error({ err }, 'defect while fetching in the background'),
  });
  const { countAnswers = (same) => same } = options;
  const context = toPlanContext(providers, config, cursorKey);
  return {
    reader: createReader(countAnswers(fetcher), context),
    importer: createImporter(options, { chain, cache, keep, stop: stopping.signal }),
    context,
    chain,
    cache,
    stop: () => stopping.abort(),
    close: async () => {
      await Promise.all([http.close(), publicHttp.close()]);
      await fetcher.settle();
      chain.close();
      keep?.close();
    },
  };
}

/** Opens the histories that are kept, if they are configured; closes the providers if that fails. */
function openKeep(
  config: Config,
  chain: ProviderChain,
  { archivePath }: Pick<ProviderSettings, 'archivePath'>,
): HistoryKeep | undefined {
  if (!config.PERCH_ARCHIVE_HISTORY) return undefined;
  try {
    return openHistoryKeep(archivePath, config.PERCH_BASE_URL);
  } catch (error) {
    chain.close();
    throw error;
  }
}

/** Creates the listener that removes deleted posts and accounts from stored histories. */
function createForget(keep: HistoryKeep | undefined, { logger }: FetchingOptions) {
  return (subject: string): void => {
    const gone = referenceOfSubject(subject);
    try {
      if (gone !== null) keep?.dropGone(gone);
    } catch (err) {
      logger.error({ err }, 'what is gone could not be forgotten in the histories that are kept');
    }
  };
}

/** Typical seconds for one page; requests that queue longer for their turn would be in vain. */
const pageSeconds = 3;

/** Returns the number of requests that the pace allows for while a page is fetched. */
function turnsWhileAsking({ PERCH_FXTWITTER_PER_MINUTE: perMinute }: Config): number {
  return Math.max(1, Math.floor((perMinute / 60) * pageSeconds));
}

function createImporter(
  { config, clock, pool, ledger, logger }: FetchingOptions,
  {
    chain,
    cache,
    keep,
    stop,
  }: {
    readonly chain: ProviderChain;
    readonly cache: ResponseCache;
    readonly keep: HistoryKeep | undefined;
    readonly stop: AbortSignal;
  },
): HistoryImporter {
  const onKeepFailure = (err: unknown) =>
    logger.error({ err }, 'a history could not be kept, or what is kept could not be read');
  return createHistoryImporter({
    chain,
    clock,
    pool,
    concurrency: Math.min(config.PERCH_HISTORY_CONCURRENCY, turnsWhileAsking(config)),
    firstTimeoutMs: config.PERCH_READ_TIMEOUT_MS,
    timeoutMs: config.PERCH_HISTORY_TIMEOUT_MS,
    ledger,
    keep,
    onKeepFailure,
    onGone: ({ platform, handle }) =>
      cache.dropSubject(accountSubject(platform, handle), clock.now()),
    stop,
  });
}

function toLimits({ config, clock, random, heavyTurns }: FetchingOptions): HttpClientOptions {
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

function toPlanContext(
  providers: readonly Provider[],
  config: Config,
  cursorKey: Buffer,
): PlanContext {
  return {
    baseUrl: config.PERCH_BASE_URL,
    xMirrors: config.PERCH_X_MIRRORS,
    mastodonSearchHost: config.PERCH_MASTODON_SEARCH_HOST,
    cursors: createCursorCodec(cursorKey),
    searchPlatform: defaultSearchPlatform(providers),
    embedSeconds: config.PERCH_CACHE_TTL_SECONDS,
  };
}

function openCursorKey({ PERCH_CURSOR_KEY: key, PERCH_DATA_DIR: folder }: Config, random: Random) {
  if (key !== undefined) return Buffer.from(key);
  return folder === ':memory:' ? random.bytes(32) : openSecret(`${folder}/cursor.key`, random);
}

/** Returns the platform of the first provider, other than the archive, that can search. */
function defaultSearchPlatform(providers: readonly Provider[]): SearchPlatform {
  const query = { kind: 'search', text: '', feed: 'latest', cursor: null, count: 1 } as const;
  const moments = { sinceSeconds: null, untilSeconds: null };
  const live = searchPlatforms.filter(
    (platform) => platform !== 'archive' && platform !== 'sample',
  );
  for (const provider of providers) {
    const found = live.find(
      (platform) => provider.covers({ ...query, ...moments, platform }) === true,
    );
    if (provider.ask.search !== undefined && found !== undefined) return found;
  }
  return 'archive';
}

function toSettings(
  config: Config,
  shared: Pick<ProviderSettings, 'http' | 'publicHttp' | 'clock'>,
): ProviderSettings {
  const folder = config.PERCH_DATA_DIR;
  return {
    ...shared,
    baseUrl: config.PERCH_BASE_URL,
    archivePath: folder === ':memory:' ? folder : `${folder}/archive.db`,
    sample: config.PERCH_SAMPLE,
    fxtwitterUrl: config.PERCH_FXTWITTER_URL,
    fxtwitterPerMinute: config.PERCH_FXTWITTER_PER_MINUTE,
    syndicationUrl: config.PERCH_SYNDICATION_URL,
    blueskyUrl: config.PERCH_BLUESKY_URL,
    blueskySearchUrl: config.PERCH_BLUESKY_SEARCH_URL,
    mastodonSearchHost: config.PERCH_MASTODON_SEARCH_HOST,
    readTimeoutMs: config.PERCH_READ_TIMEOUT_MS,
    breaker: toBreakerOptions(config),
    maxPerHost: config.PERCH_UPSTREAM_READS_PER_HOST,
  };
}

function toBreakerOptions(config: Config): BreakerOptions {
  return {
    failures: config.PERCH_BREAKER_FAILURES,
    openMs: config.PERCH_BREAKER_SECONDS * 1000,
    maxOpenMs: config.PERCH_BREAKER_MAX_SECONDS * 1000,
  };
}

function createChain(
  providers: readonly Provider[],
  { config, clock, logger, heavyTurns }: FetchingOptions,
): ProviderChain {
  const links = providers.map((provider) => ({
    provider,
    gates: createGates(provider, (kind) => ({
      ...toBreakerOptions(config),
      clock,
      onChange: (breaker) =>
        logger.warn({ provider: provider.name, kind, breaker }, 'circuit breaker changed'),
    })),
  }));
  return createProviderChain(links, {
    heavyTurns,
    onFailure: ({ provider, error }) =>
      logger[levelOf(error)]({ provider, err: error }, 'provider did not answer'),
  });
}

/** A defect of ours and a changed upstream are somebody's work; an outage shows in the breaker. */
function levelOf(error: unknown): 'error' | 'warn' | 'debug' {
  if (!(error instanceof ProviderError)) return 'error';
  return error.kind === 'malformed' ? 'warn' : 'debug';
}
