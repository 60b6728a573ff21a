import type { Post } from '../../model/post.ts';
import type { PostFound, PostQuery } from '../../model/queries.ts';
import { maxDirectReplies, type ReadPost } from './post-rows.ts';
import type { ArchiveStore } from './store.ts';

/** The most posts that are read before, after and below a post. */
const limits = { ancestors: 100, continuation: 100, replies: 500 } as const;

const manyReplies = `Of the replies the archive reads ${maxDirectReplies} to each post and ${limits.replies} in all; there may be more.`;

/** Reads a post and what stands around it; undefined when the archive does not hold the post. */
export function readConversation(store: ArchiveStore, query: PostQuery): PostFound | undefined {
  const { platform, id, handle } = query.post;
  // Where the archive holds the account under another name, as it does on Bluesky, the rows have that.
  const held = handle === null ? undefined : store.findAccount({ platform, handle });
  const read = store.readPost(platform, id, held?.handle ?? handle);
  if (read === undefined) return undefined;
  const continuation = query.thread ? readContinuation(store, read.post) : [];
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
  const ancestors: Post[] = [];
  const seen = new Set([keyOf(of.post)]);
  let parent = store.readParent(of);
  while (parent !== undefined && ancestors.length < limits.ancestors) {
    const key = keyOf(parent.post);
    if (seen.has(key)) break;
    seen.add(key);
    ancestors.unshift(parent.post);
    parent = store.readParent(parent);
  }
  return ancestors;
}

/** Follows the author's first reply to each of their own posts, over deleted ones in between. */
function readContinuation(store: ArchiveStore, from: Post): readonly Post[] {
  const continuation: Post[] = [];
  const handle = authorOf(from);
  const seen = new Set([keyOf(from)]);
  let last = from;
  while (handle !== undefined && continuation.length < limits.continuation) {
    const own = findOwnReply(store, { to: last, handle });
    if (own === undefined || seen.has(keyOf(own))) break;
    seen.add(keyOf(own));
    continuation.push(own);
    last = own;
  }
  return continuation;
}

function findOwnReply(
  store: ArchiveStore,
  { to, handle }: { readonly to: Post; readonly handle: string },
): Post | undefined {
  const replies = store.readReplies(to).map(({ post }) => post);
  const isOwn = (post: Post) => authorOf(post) === handle;
  const leadsOn = (post: Post) =>
    post.type === 'tombstone' && store.readReplies(post).some((reply) => isOwn(reply.post));
  return replies.find(isOwn) ?? replies.find(leadsOn);
}

function authorOf(post: Post): string | undefined {
  return post.author?.screen_name.toLowerCase();
}

/** On Bluesky and Mastodon posts of several accounts can have the same id. */
function keyOf(post: Post): string {
  return `${authorOf(post) ?? ''} ${post.id}`;
}

interface ReplyOrder {
  readonly order: PostQuery['replies'];
  /** Posts that stand elsewhere in the conversation, by their key. */
  readonly shown: ReadonlySet<string>;
}

interface Replies {
  readonly replies: readonly Post[];
  /** Whether there may be more. */
  readonly isCut: boolean;
}

/** Reads the replies to a post, ranked, each followed by the replies to it in order of time. */
function readReplies(store: ArchiveStore, to: Post, { order, shown }: ReplyOrder): Replies {
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
