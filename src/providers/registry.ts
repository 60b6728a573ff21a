import type { Clock } from '../core/clock.ts';
import type { HttpClient } from '../core/http-client.ts';
import { sourceNames } from '../model/sources.ts';
import { openArchive } from './archive/index.ts';
import { createFxTwitter } from './fxtwitter/index.ts';
import { withPace } from './pace.ts';
import type { Provider } from './provider.ts';
import { createSyndication } from './syndication/index.ts';

/** The providers that there are, in the default order of `PERCH_PROVIDERS`. */
export const providerNames = sourceNames;

/** The name of a provider. */
export type ProviderName = (typeof providerNames)[number];

/** What the providers are built from. */
export interface ProviderSettings {
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly baseUrl: string;
  readonly archivePath: string;
  readonly sample: boolean;
  readonly fxtwitterUrl: string;
  readonly fxtwitterPerMinute: number;
  readonly syndicationUrl: string;
  readonly readTimeoutMs: number;
}

/** How each provider is built. A provider with `close` is owned by whoever builds it. */
export const providerFactories: Readonly<
  Record<ProviderName, (settings: ProviderSettings) => Provider>
> = {
  archive: (settings) =>
    openArchive({
      path: settings.archivePath,
      sample: settings.sample,
      baseUrl: settings.baseUrl,
      clock: settings.clock,
    }),
  fxtwitter: (settings) =>
    createFxTwitter({
      http: withPace(settings.http, {
        perMinute: settings.fxtwitterPerMinute,
        maxWaitMs: settings.readTimeoutMs,
        clock: settings.clock,
      }),
      apiUrl: settings.fxtwitterUrl,
      clock: settings.clock,
    }),
  syndication: (settings) =>
    createSyndication({ http: settings.http, apiUrl: settings.syndicationUrl }),
};
