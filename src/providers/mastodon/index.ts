import type { HttpClient } from '../../core/http/http-client.ts';
import { defaultMastodonHost } from '../../model/reference.ts';
import { withBounds } from '../bounds.ts';
import { type Provider, platformOf, readNames } from '../provider.ts';
import { askProfile, createAccounts } from './accounts.ts';
import { askConnections } from './connections.ts';
import { createHomes } from './homes.ts';
import type { HostGateOptions } from './host-gates.ts';
import { askPost, askReplies } from './post.ts';
import { askSearch } from './search.ts';
import { askSearchUsers } from './search-users.ts';
import { createServers } from './servers.ts';
import { askTimeline } from './timeline.ts';

/** What the provider is built from. */
export interface MastodonOptions extends HostGateOptions {
  /** Must contact public addresses over https only: the hosts that it is given come from callers. */
  readonly http: HttpClient;
  /** The server that searches are asked of; default: `mastodon.social`. */
  readonly searchHost?: string;
}

/** Creates the provider that reads servers of Mastodon, each through its own public API. */
export function createMastodon({ searchHost, ...options }: MastodonOptions): Provider {
  const { clock } = options;
  const servers = createServers(options);
  const homes = createHomes(servers, clock);
  const accounts = createAccounts(homes, clock);
  const connections = askConnections(accounts);
  const searches = { servers, host: searchHost ?? defaultMastodonHost };
  return withBounds({
    name: 'mastodon',
    platforms: ['mastodon'],
    reads: new Set(readNames),
    covers: (query) => platformOf(query) === 'mastodon',
    ask: {
      post: askPost(homes),
      replies: askReplies(homes),
      profile: askProfile(accounts),
      timeline: askTimeline(accounts),
      followers: connections,
      following: connections,
      search: askSearch(searches),
      searchUsers: askSearchUsers({ ...searches, accounts }),
    },
  });
}
