import type { Clock } from '../../core/clock.ts';
import { platformOf } from '../platform-of.ts';
import type { Provider } from '../provider.ts';
import { createUpstream, type UpstreamOptions } from '../upstream.ts';
import { createClient } from './client.ts';
import { createKnownAccounts } from './known-accounts.ts';
import { askPost } from './post.ts';

/** What the provider is built from. */
export interface BlueskyOptions extends UpstreamOptions {
  readonly clock: Clock;
}

/** How many requests a minute Bluesky bears from one address: 3,000 in five (Bluesky, section 1). */
export const blueskyPerMinute = 600;

/** Creates the provider that reads Bluesky through a public AppView, without an account. */
export function createBluesky({ http, apiUrl, clock }: BlueskyOptions): Provider {
  const client = createClient(createUpstream({ http, apiUrl }), clock);
  const reading = { client, known: createKnownAccounts(clock), clock };
  return {
    name: 'bluesky',
    platforms: ['bluesky'],
    reads: new Set(['post', 'thread', 'replies'] as const),
    covers: (query) => platformOf(query) === 'bluesky',
    ask: { post: askPost(reading) },
  };
}
