import type { FastifyBaseLogger } from 'fastify';
import type { Config } from './config.ts';
import type { Clock } from './core/clock.ts';
import { openHttpClient } from './core/http-client.ts';
import type { Random } from './core/random.ts';
import { createFetcher, type Fetcher } from './fetching/fetch.ts';
import { createProviderChain, type ProviderChain } from './fetching/provider-chain.ts';
import { createGate } from './fetching/provider-gate.ts';
import { createResponseCache } from './fetching/response-cache.ts';
import { type Provider, ProviderError } from './providers/provider.ts';
import { type ProviderSettings, providerFactories } from './providers/registry.ts';

/** What tests put in the place of the real thing. */
export interface FetchingOverrides {
  /** The providers, instead of those that the configuration names. They are closed with the rest. */
  readonly providers?: readonly Provider[];
}

/** What the fetching are built of. */
export interface FetchingOptions extends FetchingOverrides {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: FastifyBaseLogger;
}

/** Everything behind the surfaces: HTTP and the command line use the same. */
export interface Fetching {
  readonly fetcher: Fetcher;
  readonly chain: ProviderChain;
  /** Ends the fetches that are under way, and every later one, with Problem `shutting_down`. */
  stop(): void;
  /** Waits for work in the background, then closes stores and connections. */
  close(): Promise<void>;
}

/**
 * Opens what reads are answered with: the outbound client, the providers, the cache.
 *
 * @throws Error when the archive's database cannot be opened.
 */
export function openFetching(options: FetchingOptions): Fetching {
  const { config, clock } = options;
  const http = openHttpClient({
    connectTimeoutMs: config.PERCH_CONNECT_TIMEOUT_MS,
    attemptTimeoutMs: config.PERCH_ATTEMPT_TIMEOUT_MS,
    maxBytes: config.PERCH_UPSTREAM_MAX_BYTES,
    userAgent: config.PERCH_USER_AGENT,
    clock,
    random: options.random,
  });
  const settings = toSettings(config, { http, clock });
  const providers =
    options.providers ?? config.PERCH_PROVIDERS.map((name) => providerFactories[name](settings));
  const chain = createChain(providers, options);
  const cache = createResponseCache({
    maxEntries: config.PERCH_CACHE_ENTRIES,
    maxBytes: config.PERCH_CACHE_BYTES,
  });
  const stopping = new AbortController();
  const fetcher = createFetcher({
    chain,
    cache,
    clock,
    ttlSeconds: config.PERCH_CACHE_TTL_SECONDS,
    staleWhileRevalidateSeconds: config.PERCH_STALE_WHILE_REVALIDATE_SECONDS,
    staleIfErrorSeconds: config.PERCH_STALE_IF_ERROR_SECONDS,
    notFoundSeconds: config.PERCH_NOT_FOUND_CACHE_SECONDS,
    readTimeoutMs: config.PERCH_READ_TIMEOUT_MS,
    maxUpstreamReads: config.PERCH_MAX_UPSTREAM_READS,
    stop: stopping.signal,
    onDefect: (err) => options.logger.error({ err }, 'defect while fetching in the background'),
  });
  return {
    fetcher,
    chain,
    stop: () => stopping.abort(),
    close: async () => {
      await http.close();
      await fetcher.settle();
      chain.close();
    },
  };
}

function toSettings(
  config: Config,
  shared: Pick<ProviderSettings, 'http' | 'clock'>,
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
    readTimeoutMs: config.PERCH_READ_TIMEOUT_MS,
  };
}

function createChain(
  providers: readonly Provider[],
  { config, clock, logger }: FetchingOptions,
): ProviderChain {
  const links = providers.map((provider) => ({
    provider,
    gate: createGate({
      clock,
      failures: config.PERCH_BREAKER_FAILURES,
      openMs: config.PERCH_BREAKER_SECONDS * 1000,
      maxOpenMs: config.PERCH_BREAKER_MAX_SECONDS * 1000,
      onChange: (breaker) =>
        logger.warn({ provider: provider.name, breaker }, 'circuit breaker changed'),
    }),
  }));
  return createProviderChain(links, ({ provider, error }) =>
    logger[levelOf(error)]({ provider, err: error }, 'provider did not answer'),
  );
}

/** A defect of ours and a changed upstream are somebody's work; an outage shows in the breaker. */
function levelOf(error: unknown): 'error' | 'warn' | 'debug' {
  if (!(error instanceof ProviderError)) return 'error';
  return error.kind === 'malformed' ? 'warn' : 'debug';
}
