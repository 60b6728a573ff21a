import type { Clock } from '../../core/clock.ts';
import type { Post } from '../../model/post.ts';
import {
  type Page,
  type Provider,
  ProviderError,
  type Query,
  type SearchQuery,
} from '../provider.ts';
import { readConversation } from './conversation.ts';
import { toMatchExpression } from './search.ts';
import { seedSample } from './seed.ts';
import { type ArchiveStore, openArchiveStore } from './store.ts';

/** Where the archive is and what it holds. */
export interface ArchiveOptions {
  /** The database file, or `:memory:`. */
  readonly path: string;
  /** Whether it holds the made-up sample. */
  readonly sample: boolean;
  /** Perch's own address: the sample lives at its permalinks. */
  readonly baseUrl: string;
  readonly clock: Clock;
}

/**
 * Opens the embedded archive. It answers for the accounts that it holds and for nothing else: what
 * it lacks of those is `missing` in the sample and `ambiguous` elsewhere, because an imported
 * export need not be whole.
 *
 * @throws Error when the database cannot be opened.
 */
export function openArchive(options: ArchiveOptions): Provider {
  const store = openArchiveStore(options.path, options.baseUrl);
  if (options.sample) seedSample(store, options.clock);
  return {
    name: 'archive',
    platforms: options.sample
      ? ['sample', 'x', 'bluesky', 'mastodon']
      : ['x', 'bluesky', 'mastodon'],
    reads: new Set(['post', 'thread', 'replies', 'search']),
    covers: (query) => covers(store, query, options.sample),
    ask: {
      post: async (query) => {
        const found = readConversation(store, query);
        if (found?.post.type === 'status') return found;
        if (found !== undefined) throw new ProviderError('missing', found.post.text);
        throw query.post.platform === 'sample'
          ? new ProviderError('missing', 'The sample has no such post.')
          : new ProviderError('ambiguous', 'The archive does not hold this post of the account.');
      },
      search: async (query) => search(store, query, options.sample),
    },
    close: () => store.close(),
  };
}

function covers(store: ArchiveStore, query: Query, sample: boolean): boolean {
  if (query.kind === 'search') return true;
  if (query.kind !== 'post') return false;
  const { platform, handle, id } = query.post;
  if (platform === 'sample') return sample;
  return handle === null || platform === 'x'
    ? store.hasPost(platform, id) || (handle !== null && store.hasAccount(platform, handle))
    : store.hasAccount(platform, handle);
}

function search(store: ArchiveStore, query: SearchQuery, sample: boolean): Page<Post> {
  const expression = toMatchExpression(query.text);
  const offset = Number(query.cursor ?? 0);
  const items =
    expression === undefined
      ? []
      : store.searchPosts(expression, { limit: query.count, offset, sample });
  const more = items.length === query.count;
  return { items, cursor: more ? String(offset + items.length) : null, warnings: [] };
}
