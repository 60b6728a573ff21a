import { type Account, toAccount } from '../../src/model/account.ts';
import type { Status } from '../../src/model/post.ts';
import type { PostFound, PostQuery } from '../../src/model/queries.ts';
import type { Provider, ProviderContext } from '../../src/providers/provider.ts';

/** Function that answers a post query of a stub provider. */
export type StubAnswer = (query: PostQuery, context: ProviderContext) => Promise<PostFound>;

/** Stub provider for X that counts its queries. */
export interface StubProvider extends Provider {
  readonly queries: PostQuery[];
}

/** Creates a provider for X that answers with `answer`. */
export function createStubProvider(name: string, answer: StubAnswer): StubProvider {
  const queries: PostQuery[] = [];
  return {
    name,
    queries,
    platforms: ['x'],
    reads: new Set(['post', 'thread', 'replies']),
    covers: (query) => query.kind === 'post' && query.post.platform === 'x',
    fetch: {
      post: (query, context) => {
        queries.push(query);
        return answer(query, context);
      },
    },
  };
}

/** Returns an account with default values. */
export function stubAccount(handle: string): Account {
  return toAccount({
    id: `id-${handle}`,
    screen_name: handle,
    name: handle,
    url: `https://x.com/${handle}`,
    platform: 'x',
  });
}

/** Returns a post with default values. */
export function stubPost(id: string, more: Partial<Status> = {}): Status {
  const author = more.author ?? stubAccount('wren');
  return {
    type: 'status',
    id,
    url: `https://x.com/${author.screen_name}/status/${id}`,
    text: `Post ${id}`,
    facets: [],
    created_at: '2026-01-01T00:00:00Z',
    created_timestamp: 1767225600,
    author,
    lang: 'en',
    replies: 0,
    reposts: 0,
    likes: 0,
    quotes: 0,
    bookmarks: null,
    views: null,
    source: null,
    possibly_sensitive: false,
    replying_to: null,
    quote: null,
    reposted_by: null,
    media: { all: [], photos: [], videos: [] },
    poll: null,
    article: null,
    content_warning: null,
    card: null,
    community_note: null,
    context: null,
    platform: 'x',
    ...more,
  };
}

/** Returns a result with a single post. */
export function stubFound(post: Status, more: Partial<PostFound> = {}): PostFound {
  return { ancestors: [], post, continuation: [], replies: [], missing: [], warnings: [], ...more };
}
