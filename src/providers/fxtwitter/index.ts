import type { Clock } from '../../lib/clock.ts';
import { createLiveProvider } from '../bounds.ts';
import type { Provider } from '../provider.ts';
import { createUpstream, type UpstreamOptions } from '../upstream.ts';
import { createClient } from './client.ts';
import { askConnections, askSearch, askSearchUsers } from './lists/list.ts';
import { askTimeline } from './lists/timeline.ts';
import { askPost, askReplies } from './post.ts';
import { createProfiles } from './profile.ts';

interface FxTwitterOptions extends UpstreamOptions {
  readonly clock: Clock;
}

export function createFxTwitter({ clock, ...options }: FxTwitterOptions): Provider {
  const upstream = createUpstream(options);
  const client = createClient(upstream);
  const profiles = createProfiles(upstream, clock);
  const connections = askConnections(upstream, profiles);
  return createLiveProvider('fxtwitter', 'x', {
    post: askPost(client),
    replies: askReplies(client),
    profile: async ({ account: { handle } }, context) => ({
      account: await profiles.read(handle, context),
      warnings: [],
    }),
    timeline: askTimeline({ upstream, profiles, clock }),
    followers: connections,
    following: connections,
    search: askSearch(upstream),
    searchUsers: askSearchUsers(upstream),
  });
}
