import type { Post } from '../model/post.ts';
import type { Page, PostFound } from '../model/queries.ts';

/** Returns the replies that a source has sent with a post, as the one page of their list. */
export function toRepliesPage({ post, replies, warnings, asOfMs }: PostFound): Page<Post> {
  // What stands for a post may have nothing that tells it from others, and a list has each item once.
  const items = replies.filter(({ type }) => type === 'status');
  return {
    items,
    cursor: null,
    answered: post,
    warnings: [...warnings, ...tellLost(replies.length - items.length)],
    ...(asOfMs === undefined ? {} : { asOfMs }),
  };
}

function tellLost(count: number): readonly string[] {
  if (count === 0) return [];
  const replies = count === 1 ? '1 reply is' : `${count} replies are`;
  return [`${replies} left out, because the source does not show them to the public.`];
}
