import type { Clock } from '../lib/clock.ts';
import type { HttpClient } from '../lib/http/http-client.ts';
import type { SigningKey } from '../lib/http/request-signatures.ts';
import { sourceNames } from '../model/results.ts';
import { createActivityPub } from './activitypub/index.ts';
import { openArchive } from './archive/index.ts';
import { blueskyPerMinute, createBluesky } from './bluesky/index.ts';
import { createFxTwitter } from './fxtwitter/index.ts';
import type { CallHost } from './hosts.ts';
import { createMastodon } from './mastodon/index.ts';
import type { Provider } from './provider.ts';
import { withRateLimit } from './rate-limit.ts';
import { createSyndication } from './syndication/index.ts';

/** Names of all providers, in the default order of `PERCH_PROVIDERS`. */
export const providerNames = sourceNames;

export type ProviderName = (typeof providerNames)[number];

export interface ProviderSettings {
  readonly http: HttpClient;
  /** HTTP client for hosts that API clients choose. Connects only to public addresses. */
  readonly publicHttp: HttpClient;
  /** Key that signs requests to ActivityPub servers; `null` if they are not signed. */
  readonly signingKey: SigningKey | null;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly archivePath: string;
  readonly sample: boolean;
  readonly fxtwitterUrl: string;
  readonly fxtwitterPerMinute: number;
  /** Returns the number of instances among which the rate limits of upstreams are divided. */
  readonly countInstances: () => number;
  readonly syndicationUrl: string;
  readonly blueskyUrl: string;
  readonly blueskySearchUrl: string;
  readonly mastodonSearchHost: string;
  readonly readTimeoutMs: number;
  /** Limits of the hosts that API clients choose, shared by the providers that read from them. */
  readonly callHost: CallHost;
}

/** Functions that create the providers, by name. Close providers that have a `close` method. */
export const providerFactories: Readonly<
  Record<ProviderName, (settings: ProviderSettings) => Provider>
> = {
  archive: (settings) => openArchive({ ...settings, path: settings.archivePath }),
  fxtwitter: (settings) =>
    createFxTwitter({
      http: toRateLimited(settings, settings.fxtwitterPerMinute),
      apiUrl: settings.fxtwitterUrl,
      clock: settings.clock,
    }),
  syndication: (settings) =>
    createSyndication({ http: settings.http, apiUrl: settings.syndicationUrl }),
  bluesky: (settings) =>
    createBluesky({
      http: toRateLimited(settings, blueskyPerMinute),
      apiUrl: settings.blueskyUrl,
      searchUrl: settings.blueskySearchUrl,
      clock: settings.clock,
    }),
  mastodon: (settings) =>
    createMastodon({
      ...settings,
      http: settings.publicHttp,
      searchHost: settings.mastodonSearchHost,
    }),
  activitypub: (settings) => createActivityPub({ ...settings, http: settings.publicHttp }),
};

function toRateLimited(settings: ProviderSettings, perMinute: number): HttpClient {
  const { http, clock, readTimeoutMs: maxWaitMs, countInstances } = settings;
  // Instances often have one public address, for which an upstream counts all of their requests.
  const share = () => Math.max(1, Math.floor(perMinute / countInstances()));
  return withRateLimit(http, { perMinute: share, maxWaitMs, clock });
}
