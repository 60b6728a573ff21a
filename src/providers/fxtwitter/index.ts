import type { Provider } from '../provider.ts';
import type { UpstreamOptions } from '../upstream.ts';
import { createClient } from './client.ts';
import { askPost } from './post.ts';

/** Creates the provider that reads X through the public API of FxTwitter. */
export function createFxTwitter(options: UpstreamOptions): Provider {
  const client = createClient(options);
  return {
    name: 'fxtwitter',
    platforms: ['x'],
    reads: new Set(['post', 'thread', 'replies'] as const),
    covers: (query) => query.kind === 'post' && query.post.platform === 'x',
    ask: { post: askPost(client) },
  };
}
