import type { Post } from '../../model/post.ts';
import type { PostFound, PostQuery } from '../../model/queries.ts';
import { maxDirectReplies, type ReadPost } from './post-rows.ts';
import type { ArchiveStore } from './store.ts';

const limits = {
  /** Maximum number of posts before the requested post: its parent, the parent's parent, etc. */
  ancestors: 100,
  /** Maximum number of later posts in which the author continues the thread. */
  continuation: 100,
  /** Maximum number of direct and indirect replies. */
  replies: 500,
} as const;

const manyReplies = `The archive reads at most ${maxDirectReplies} replies to each post and ${limits.replies} in total, so some replies may be missing.`;

/** Returns `undefined` if the post is not archived. */
export function readConversation(store: ArchiveStore, query: PostQuery): PostFound | undefined {
  const { platform, id, handle } = query.post;
  // Rows contain the archived handle of the account. On Bluesky, the request can contain another
  // name.
  const account = handle === null ? undefined : store.findAccount({ platform, handle });
  const read = store.readPost(platform, id, account?.handle ?? handle);
  if (read === undefined) return undefined;
  const continuation = query.thread ? readContinuation(store, read) : [];
  const shown = new Set([read.post, ...continuation].map(keyOf));
  const { replies, isCut } =
    query.replies === 'off'
      ? { replies: [], isCut: false }
      : readReplies(store, read.post, { order: query.replies, shown });
  return {
    ancestors: query.thread ? readAncestors(store, read) : [],
    post: read.post,
    continuation,
    replies,
    missing: [],
    warnings: isCut ? [manyReplies] : [],
    asOfMs: read.stored * 1000,
  };
}

function readAncestors(store: ArchiveStore, of: ReadPost): readonly Post[] {
  const ancestors = follow(of, limits.ancestors, (reply) => store.readParent(reply));
  return ancestors.map(({ post }) => post).reverse();
}

function readContinuation(store: ArchiveStore, from: ReadPost): readonly Post[] {
  const handle = authorOf(from.post);
  if (handle === undefined) return [];
  const isOwn = ({ post }: ReadPost) => authorOf(post) === handle;
  const leadsOn = ({ post }: ReadPost) =>
    post.type === 'tombstone' && store.readReplies(post).some(isOwn);
  const own = follow(from, limits.continuation, ({ post }) => {
    const replies = store.readReplies(post);
    return replies.find(isOwn) ?? replies.find(leadsOn);
  });
  return own.map(({ post }) => post);
}

function follow(
  first: ReadPost,
  limit: number,
  findNext: (last: ReadPost) => ReadPost | undefined,
): readonly ReadPost[] {
  const followed: ReadPost[] = [];
  const seen = new Set([keyOf(first.post)]);
  let next = findNext(first);
  while (next !== undefined && followed.length < limit && !seen.has(keyOf(next.post))) {
    seen.add(keyOf(next.post));
    followed.push(next);
    next = findNext(next);
  }
  return followed;
}

const authorOf = (post: Post): string | undefined => post.author?.screen_name.toLowerCase();

const keyOf = (post: Post): string => `${authorOf(post) ?? ''} ${post.id}`;

function readReplies(
  store: ArchiveStore,
  to: Post,
  { order, shown }: { readonly order: PostQuery['replies']; readonly shown: ReadonlySet<string> },
) {
  const replies: Post[] = [];
  const direct = store.readReplies(to).map(({ post }) => post);
  const pending = rank(direct, order).reverse();
  const seen = new Set(shown);
  let isCut = direct.length >= maxDirectReplies;
  while (pending.length > 0 && replies.length < limits.replies) {
    const post = pending.pop();
    if (post === undefined || seen.has(keyOf(post))) continue;
    seen.add(keyOf(post));
    replies.push(post);
    const below = store.readReplies(post);
    isCut ||= below.length >= maxDirectReplies;
    pending.push(...below.map((read) => read.post).reverse());
  }
  return { replies, isCut: isCut || pending.length > 0 };
}

function rank(posts: readonly Post[], order: PostQuery['replies']): Post[] {
  const likes = (post: Post) => (post.type === 'status' ? (post.likes ?? 0) : -1);
  const time = (post: Post) => (post.type === 'status' ? post.created_timestamp : 0);
  const byTime = (a: Post, b: Post) => time(b) - time(a);
  const byLikes = (a: Post, b: Post) => likes(b) - likes(a) || byTime(b, a);
  return posts.toSorted(order === 'recent' ? byTime : byLikes);
}
