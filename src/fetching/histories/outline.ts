import { type Account, toAccount } from '../../model/account.ts';
import type { Post, Status } from '../../model/post.ts';
import type { Page } from '../../model/queries.ts';

/** Returns a page for an index: its posts without what neither their order nor an index needs. */
export function toOutline(page: Page<Post>): Page<Post> {
  return { ...page, items: page.items.flatMap(outlinePost) };
}

/** A tombstone has no time, so an index has no place for it. */
function outlinePost(post: Post): readonly Status[] {
  if (post.type === 'tombstone') return [];
  return [
    {
      ...post,
      text: '',
      facets: [],
      author: outlineAccount(post.author),
      quote: null,
      reposted_by: post.reposted_by === null ? null : outlineAccount(post.reposted_by),
      media: { all: [], photos: [], videos: [] },
      poll: null,
      article: null,
      card: null,
      community_note: null,
    },
  ];
}

function outlineAccount({ id, screen_name, platform }: Account): Account {
  return toAccount({ id, screen_name, name: '', url: '', platform });
}
