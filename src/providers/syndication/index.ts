import type { PostFound, PostQuery } from '../../model/queries.ts';
import { withBounds } from '../bounds.ts';
import type { Ask, Provider } from '../provider.ts';
import type { UpstreamOptions } from '../upstream.ts';
import { createClient, type SyndicationClient } from './client.ts';
import { type PostPayload, parsePost } from './payload.ts';
import { shapePost } from './shape.ts';

/** Creates the provider that reads single posts of X through what X serves for embedding them. */
export function createSyndication(options: UpstreamOptions): Provider {
  return withBounds({
    name: 'syndication',
    platforms: ['x'],
    reads: new Set(['post'] as const),
    covers: (query) => query.kind === 'post' && query.post.platform === 'x',
    ask: { post: askPost(createClient(options)) },
  });
}

function askPost(client: SyndicationClient): Ask<'post'> {
  return async (query, context) => {
    const row = await client.readPost(query.post.id, context);
    const parent = query.thread ? parsePost(row.parent) : null;
    return {
      ancestors: parent === null ? [] : [shapePost(parent)],
      post: shapePost(row),
      continuation: [],
      replies: [],
      missing: listMissing(query),
      warnings: listWarnings(query, row),
    };
  };
}

function listMissing({ thread, replies }: PostQuery): PostFound['missing'] {
  return [
    ...(thread ? (['thread'] as const) : []),
    ...(replies === 'off' ? [] : (['replies'] as const)),
  ];
}

function listWarnings(query: PostQuery, row: PostPayload): readonly string[] {
  const warnings: string[] = [];
  if (row.note_tweet !== null)
    warnings.push('The text of this long post is cut after its beginning.');
  if (row.article !== null) warnings.push('Only the beginning of the article is known.');
  if (query.thread) {
    warnings.push(
      'The thread is missing: this source gives the post and at most the one it answers.',
    );
  }
  if (query.replies !== 'off') warnings.push('The replies are missing: this source has none.');
  return warnings;
}
