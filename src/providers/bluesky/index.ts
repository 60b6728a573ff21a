import type { Clock } from '../../core/clock.ts';
import { withBounds } from '../bounds.ts';
import { type Provider, platformOf, readNames } from '../provider.ts';
import { createUpstream, type UpstreamOptions } from '../upstream.ts';
import { createClient } from './client.ts';
import { askConnections } from './connections.ts';
import { createKnownAccounts } from './known-accounts.ts';
import { askPost, askReplies } from './post.ts';
import { askProfile } from './profile.ts';
import { askSearch, askSearchUsers } from './search.ts';
import { askTimeline } from './timeline.ts';

/** What the provider is built from. */
export interface BlueskyOptions extends UpstreamOptions {
  readonly clock: Clock;
  /** The address that searches of posts go to first; default: that of every other read. */
  readonly searchUrl?: string;
}

/** How many requests a minute Bluesky bears from one address: 3,000 in five (Bluesky, section 1). */
export const blueskyPerMinute = 600;

/** Creates the provider that reads Bluesky through a public AppView, without an account. */
export function createBluesky({ http, apiUrl, searchUrl, clock }: BlueskyOptions): Provider {
  const toClient = (url: string) => createClient(createUpstream({ http, apiUrl: url }), clock);
  const reading = { client: toClient(apiUrl), known: createKnownAccounts(clock), clock };
  const connections = askConnections(reading);
  const hosts = [...new Set([searchUrl ?? apiUrl, apiUrl])].map(toClient);
  return withBounds({
    name: 'bluesky',
    platforms: ['bluesky'],
    reads: new Set(readNames),
    covers: (query) => platformOf(query) === 'bluesky',
    ask: {
      post: askPost(reading),
      replies: askReplies(reading),
      profile: askProfile(reading),
      timeline: askTimeline(reading),
      followers: connections,
      following: connections,
      search: askSearch({ reading, hosts }),
      searchUsers: askSearchUsers(reading),
    },
  });
}
