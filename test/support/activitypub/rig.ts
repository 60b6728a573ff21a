import { createActivityPub } from '../../../src/providers/activitypub/index.ts';
import type { ProviderSetup } from '../../suites/provider-suite.ts';
import { createOpenLimits } from '../mastodon-rig.ts';
import { withPublicHosts } from '../public-http.ts';

/** Creates the provider with the fake upstream in place of all public hosts. */
export const createFakedActivityPub: ProviderSetup['create'] = ({ http, apiUrl, clock }) =>
  createActivityPub({
    http: withPublicHosts(http, apiUrl),
    clock,
    callHost: createOpenLimits(clock),
    readTimeoutMs: 20_000,
  });
