import { createMastodon } from '../../src/providers/mastodon/index.ts';
import type { ProviderSetup } from '../suites/provider-suite.ts';
import { homeHost } from './mastodon-payloads.ts';
import { withPublicHosts } from './public-http.ts';

/** Makes the provider, for which the fake upstream stands for every public host. */
export const createFakedMastodon: ProviderSetup['create'] = ({ http, apiUrl, clock }) =>
  createMastodon({ http: withPublicHosts(http, apiUrl), clock, searchHost: homeHost });
