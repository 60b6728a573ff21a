import type { Clock } from '../../lib/clock.ts';
import { createLiveProvider } from '../bounds.ts';
import type { Provider } from '../provider.ts';
import { createUpstream, type UpstreamOptions } from '../upstream.ts';
import { createClient } from './client.ts';
import { fetchConnections, fetchSearch, fetchSearchUsers } from './lists/list.ts';
import { fetchTimeline } from './lists/timeline.ts';
import { fetchPost, fetchReplies } from './post.ts';
import { createProfiles } from './profile.ts';

interface FxTwitterOptions extends UpstreamOptions {
  readonly clock: Clock;
}

export function createFxTwitter({ clock, ...options }: FxTwitterOptions): Provider {
  const upstream = createUpstream(options);
  const client = createClient(upstream);
  const profiles = createProfiles(upstream, clock);
  const connections = fetchConnections(upstream, profiles);
  return createLiveProvider('fxtwitter', 'x', {
    post: fetchPost(client),
    replies: fetchReplies(client),
    profile: async ({ account: { handle } }, context) => ({
      account: await profiles.read(handle, context),
      warnings: [],
    }),
    timeline: fetchTimeline({ upstream, profiles, clock }),
    followers: connections,
    following: connections,
    search: fetchSearch(upstream),
    searchUsers: fetchSearchUsers(upstream),
  });
}
