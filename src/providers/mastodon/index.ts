import type { Clock } from '../../core/clock.ts';
import type { HttpClient } from '../../core/http-client.ts';
import { defaultMastodonHost } from '../../model/reference.ts';
import { withBounds } from '../bounds.ts';
import { platformOf } from '../platform-of.ts';
import { type Provider, readNames } from '../provider.ts';
import { askProfile, createAccounts } from './accounts.ts';
import { askConnections } from './connections.ts';
import { createHomes } from './homes.ts';
import { askPost } from './post.ts';
import { askSearch } from './search.ts';
import { askSearchUsers } from './search-users.ts';
import { createServers } from './servers.ts';
import { askTimeline } from './timeline.ts';

/** What the provider is built from. */
export interface MastodonOptions {
  /** Must contact public addresses over https only: the hosts that it is given come from callers. */
  readonly http: HttpClient;
  readonly clock: Clock;
  /** The server that searches are asked of; default: `mastodon.social`. */
  readonly searchHost?: string;
}

/** Creates the provider that reads servers of Mastodon, each through its own public API. */
export function createMastodon({ http, clock, searchHost }: MastodonOptions): Provider {
  const servers = createServers({ http, clock });
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
      profile: askProfile(accounts),
      timeline: askTimeline(accounts),
      followers: connections,
      following: connections,
      search: askSearch(searches),
      searchUsers: askSearchUsers({ ...searches, accounts }),
    },
  });
}
