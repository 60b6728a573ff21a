import { defaultMastodonHost } from '../../model/reference.ts';
import { describeAccountState, shapeAccount } from '../../platforms/mastodon/account.ts';
import { createLiveProvider } from '../bounds.ts';
import type { Provider } from '../provider.ts';
import { createAccounts, createHomes } from './accounts.ts';
import { askConnections, askTimeline } from './lists.ts';
import { askPost, askReplies } from './post.ts';
import { askSearch, askSearchUsers } from './search.ts';
import { createServers, type ServersOptions } from './servers.ts';

/** Options. `http` must connect only to public addresses, because API clients choose hosts. */
interface MastodonOptions extends ServersOptions {
  readonly searchHost?: string;
}

export function createMastodon(options: MastodonOptions): Provider {
  const { clock, searchHost: host = defaultMastodonHost } = options;
  const askServer = createServers(options);
  const askHome = createHomes(askServer, clock);
  const accounts = createAccounts(askHome, clock);
  const connections = askConnections(accounts);
  return createLiveProvider('mastodon', 'mastodon', {
    post: askPost({ askServer, askHome }),
    replies: askReplies({ askServer, askHome }),
    profile: async ({ account }, context) => {
      const { row, home } = await accounts.read(account.handle, context);
      return { account: shapeAccount(row, home), warnings: describeAccountState(row, home) };
    },
    timeline: askTimeline(accounts),
    followers: connections,
    following: connections,
    search: askSearch(askServer, host),
    searchUsers: askSearchUsers({ askServer, host, accounts }),
  });
}
