import type { Clock } from '../../core/clock.ts';
import type { HttpClient } from '../../core/http-client.ts';
import { platformOf } from '../platform-of.ts';
import type { Provider } from '../provider.ts';
import { askProfile, createAccounts } from './accounts.ts';
import { createHomes } from './homes.ts';
import { askPost } from './post.ts';
import { createServers } from './servers.ts';

/** What the provider is built from. */
export interface MastodonOptions {
  /** Must contact public addresses over https only: the hosts that it is given come from callers. */
  readonly http: HttpClient;
  readonly clock: Clock;
}

/** Creates the provider that reads servers of Mastodon, each through its own public API. */
export function createMastodon({ http, clock }: MastodonOptions): Provider {
  const servers = createServers({ http, clock });
  const homes = createHomes(servers, clock);
  const accounts = createAccounts(homes, clock);
  return {
    name: 'mastodon',
    platforms: ['mastodon'],
    reads: new Set(['post', 'thread', 'replies', 'profile'] as const),
    covers: (query) => platformOf(query) === 'mastodon',
    ask: {
      post: askPost(homes),
      profile: askProfile(accounts),
    },
  };
}
