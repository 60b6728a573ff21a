import type { Clock } from '../core/clock.ts';
import type { HttpClient } from '../core/http/http-client.ts';
import { sourceNames } from '../model/results.ts';
import { openArchive } from './archive.ts';
import { blueskyPerMinute, createBluesky } from './bluesky/index.ts';
import { createFxTwitter } from './fxtwitter/index.ts';
import type { BreakerOptions } from './gate.ts';
import { createMastodon } from './mastodon/index.ts';
import { withPace } from './pace.ts';
import type { Provider } from './provider.ts';
import { createSyndication } from './syndication/index.ts';

/** The providers that there are, in the default order of `PERCH_PROVIDERS`. */
export const providerNames = sourceNames;

export type ProviderName = (typeof providerNames)[number];

export interface ProviderSettings {
  readonly http: HttpClient;
  /** For hosts out of requests: contacts public addresses alone. */
  readonly publicHttp: HttpClient;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly archivePath: string;
  readonly sample: boolean;
  readonly fxtwitterUrl: string;
  readonly fxtwitterPerMinute: number;
  readonly syndicationUrl: string;
  readonly blueskyUrl: string;
  readonly blueskySearchUrl: string;
  readonly mastodonSearchHost: string;
  readonly readTimeoutMs: number;
  readonly breaker: BreakerOptions;
  readonly maxPerHost: number;
}

/** How each provider is built. A provider with `close` is owned by whoever builds it. */
export const providerFactories: Readonly<
  Record<ProviderName, (settings: ProviderSettings) => Provider>
> = {
  archive: (settings) => openArchive({ ...settings, path: settings.archivePath }),
  fxtwitter: (settings) =>
    createFxTwitter({
      http: toPaced(settings, settings.fxtwitterPerMinute),
      apiUrl: settings.fxtwitterUrl,
      clock: settings.clock,
    }),
  syndication: (settings) =>
    createSyndication({ http: settings.http, apiUrl: settings.syndicationUrl }),
  bluesky: (settings) =>
    createBluesky({
      http: toPaced(settings, blueskyPerMinute),
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
};

function toPaced({ http, clock, readTimeoutMs: maxWaitMs }: ProviderSettings, perMinute: number) {
  return withPace(http, { perMinute, maxWaitMs, clock });
}
