import type { Post } from '../../model/post.ts';
import type { Platform } from '../../model/reference.ts';
import type { PostFound, PostQuery } from '../provider.ts';
import type { ReadPost } from './post-rows.ts';
import type { ArchiveStore } from './store.ts';

/** The most posts that are read before, after and below a post. */
const limits = { ancestors: 100, continuation: 100, replies: 500 } as const;

/** Reads a post and what stands around it; undefined when the archive does not hold the post. */
export function readConversation(store: ArchiveStore, query: PostQuery): PostFound | undefined {
  const { platform, id, handle } = query.post;
  const read = store.readPost(platform, id, handle ?? undefined);
  if (read === undefined) return undefined;
  const continuation = query.thread ? readContinuation(store, platform, read.post) : [];
  const shown = new Set([id, ...continuation.map((post) => post.id)]);
  return {
    ancestors: query.thread ? readAncestors(store, platform, read) : [],
    post: read.post,
    continuation,
    replies: query.replies === 'off' ? [] : readReplies(store, query, shown),
    missing: [],
    warnings: [],
    asOfMs: read.stored * 1000,
  };
}

function readAncestors(store: ArchiveStore, platform: Platform, of: ReadPost): readonly Post[] {
  const ancestors: Post[] = [];
  const seen = new Set<string>();
  let parentId = of.parentId;
  while (parentId !== null && !seen.has(parentId) && ancestors.length < limits.ancestors) {
    seen.add(parentId);
    const parent = store.readPost(platform, parentId);
    if (parent === undefined) break;
    ancestors.unshift(parent.post);
    parentId = parent.parentId;
  }
  return ancestors;
}

/** Follows the author's first reply to each of their own posts, over deleted ones in between. */
function readContinuation(store: ArchiveStore, platform: Platform, from: Post): readonly Post[] {
  const continuation: Post[] = [];
  const handle = authorOf(from);
  let next = from.id;
  while (next !== null && handle !== undefined && continuation.length < limits.continuation) {
    const own = findOwnReply(store, platform, { to: next, handle });
    if (own === undefined || continuation.some((post) => post.id === own.id)) break;
    continuation.push(own);
    next = own.id;
  }
  return continuation;
}

function findOwnReply(
  store: ArchiveStore,
  platform: Platform,
  sought: { readonly to: string; readonly handle: string },
): Post | undefined {
  const replies = store.readReplies(platform, sought.to).map(({ post }) => post);
  const isOwn = (post: Post) => authorOf(post) === sought.handle;
  const leadsOn = ({ id, type }: Post) =>
    type === 'tombstone' &&
    id !== null &&
    store.readReplies(platform, id).some((r) => isOwn(r.post));
  return replies.find(isOwn) ?? replies.find(leadsOn);
}

function authorOf(post: Post): string | undefined {
  return post.author?.screen_name.toLowerCase();
}

/** Reads the replies to a post, ranked, each followed by the replies to it in order of time. */
function readReplies(
  store: ArchiveStore,
  query: PostQuery,
  shown: ReadonlySet<string | null>,
): readonly Post[] {
  const { platform, id } = query.post;
  const replies: Post[] = [];
  const direct = store.readReplies(platform, id).map(({ post }) => post);
  const pending = rank(direct, query.replies).reverse();
  const seen = new Set(shown);
  while (pending.length > 0 && replies.length < limits.replies) {
    const post = pending.pop();
    if (post === undefined || seen.has(post.id)) continue;
    seen.add(post.id);
    replies.push(post);
    const below = post.id === null ? [] : store.readReplies(platform, post.id);
    pending.push(...below.map((read) => read.post).reverse());
  }
  return replies;
}

function rank(posts: readonly Post[], order: PostQuery['replies']): Post[] {
  const likes = (post: Post) => (post.type === 'status' ? (post.likes ?? 0) : -1);
  const time = (post: Post) => (post.type === 'status' ? post.created_timestamp : 0);
  const byTime = (a: Post, b: Post) => time(b) - time(a);
  const byLikes = (a: Post, b: Post) => likes(b) - likes(a) || byTime(b, a);
  return posts.toSorted(order === 'recent' ? byTime : byLikes);
}
