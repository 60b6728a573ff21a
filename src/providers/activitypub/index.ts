import type { Clock } from '../../lib/clock.ts';
import type { HttpClient } from '../../lib/http/http-client.ts';
import type { SigningKey } from '../../lib/http/request-signatures.ts';
import { once } from '../../lib/once.ts';
import type { Query } from '../../model/queries.ts';
import { withBounds } from '../bounds.ts';
import type { CallHost } from '../hosts.ts';
import { type Provider, platformOf } from '../provider.ts';

/** Options. `http` must connect only to public addresses, because API clients choose hosts. */
export interface ActivityPubOptions {
  readonly http: HttpClient;
  /** Key that signs the requests; absent or `null` for unsigned requests. */
  readonly signingKey?: SigningKey | null;
  readonly clock: Clock;
  readonly callHost: CallHost;
  readonly readTimeoutMs: number;
}

const reads = [
  ...(['post', 'thread', 'replies', 'profile', 'timeline', 'followers', 'following'] as const),
];

/**
 * Creates the provider of servers that publish their objects as ActivityPub. It also answers for
 * references of Mastodon, whose server may not have or may refuse Mastodon's API. Its code is
 * loaded by the first query.
 */
export function createActivityPub(options: ActivityPubOptions): Provider {
  const load = once(async () => {
    const { createFetchers } = await import('./fetchers.ts');
    return createFetchers(options);
  });
  const fetch: Provider['fetch'] = {
    post: async (query, context) => (await load()).post(query, context),
    replies: async (query, context) => (await load()).replies(query, context),
    profile: async (query, context) => (await load()).profile(query, context),
    timeline: async (query, context) => (await load()).timeline(query, context),
    followers: async (query, context) => (await load()).followers(query, context),
    following: async (query, context) => (await load()).following(query, context),
  };
  return withBounds({
    name: 'activitypub',
    platforms: ['activitypub', 'mastodon'],
    reads: new Set(reads),
    covers: (query: Query) => {
      const platform = platformOf(query);
      return platform === 'activitypub' || (platform === 'mastodon' && !('text' in query));
    },
    fetch,
  });
}
