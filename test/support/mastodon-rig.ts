import { systemClock } from '../../src/lib/clock.ts';
import { createHostLimits } from '../../src/providers/hosts.ts';
import { createMastodon } from '../../src/providers/mastodon/index.ts';
import type { ProviderSetup } from '../suites/provider-suite.ts';
import { homeHost } from './mastodon-payloads.ts';
import { withPublicHosts } from './public-http.ts';

/** Circuit breaker options that never open, for tests with failing upstreams. */
export const openGates = {
  breaker: { failures: 1_000_000, openMs: 1, maxOpenMs: 1 },
  maxPerHost: 1_000_000,
} as const;

/** Creates limits that admit every request to every host. */
export const createOpenLimits = (clock = systemClock) => createHostLimits({ ...openGates, clock });

/** Creates the provider with the fake upstream in place of all public hosts. */
export const createFakedMastodon: ProviderSetup['create'] = ({ http, apiUrl, clock }) =>
  createMastodon({
    callHost: createOpenLimits(clock),
    http: withPublicHosts(http, apiUrl),
    clock,
    searchHost: homeHost,
  });
