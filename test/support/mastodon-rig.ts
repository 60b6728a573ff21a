import { createMastodon } from '../../src/providers/mastodon/index.ts';
import type { ProviderSetup } from '../suites/provider-suite.ts';
import { homeHost } from './mastodon-payloads.ts';
import { withPublicHosts } from './public-http.ts';

/** Gates that never close, for tests whose upstream fails on purpose. */
export const openGates = {
  breaker: { failures: 1_000_000, openMs: 1, maxOpenMs: 1 },
  maxPerHost: 1_000_000,
} as const;

/** Makes the provider, for which the fake upstream stands for every public host. */
export const createFakedMastodon: ProviderSetup['create'] = ({ http, apiUrl, clock }) =>
  createMastodon({
    ...openGates,
    http: withPublicHosts(http, apiUrl),
    clock,
    searchHost: homeHost,
  });
