import type { Clock } from '../../core/clock.ts';
import { createLiveProvider } from '../bounds.ts';
import type { Provider } from '../provider.ts';
import { createUpstream, type UpstreamOptions } from '../upstream.ts';
import { askConnections, askProfile, askSearchUsers } from './accounts.ts';
import { createKnownAccounts, createQuery } from './client.ts';
import { askPost, askReplies } from './post.ts';
import { askSearch } from './search.ts';
import { askTimeline } from './timeline.ts';

interface BlueskyOptions extends UpstreamOptions {
  readonly clock: Clock;
  readonly searchUrl?: string;
}

/** Maximum requests per minute. Bluesky allows 3,000 in five minutes from one client address. */
export const blueskyPerMinute = 600;

/** Creates the provider that reads Bluesky through a public AppView, without a login. */
export function createBluesky({ http, apiUrl, searchUrl, clock }: BlueskyOptions): Provider {
  const queryOf = (url: string) => createQuery(createUpstream({ http, apiUrl: url }), clock);
  const client = { query: queryOf(apiUrl), known: createKnownAccounts(clock), clock };
  const connections = askConnections(client);
  const hosts = [...new Set([searchUrl ?? apiUrl, apiUrl])].map(queryOf);
  return createLiveProvider('bluesky', 'bluesky', {
    post: askPost(client),
    replies: askReplies(client),
    profile: askProfile(client),
    timeline: askTimeline(client),
    followers: connections,
    following: connections,
    search: askSearch(hosts, clock),
    searchUsers: askSearchUsers(client),
  });
}
