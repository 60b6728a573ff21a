import type { Post, PostContext } from '../model/post.ts';
import type { PostFound } from '../model/queries.ts';
import type { UserDetail } from '../model/results.ts';

export interface PostView {
  /** Posts of the thread: `conversation` and `whole` are with all replies; a number is a maximum. */
  readonly thread: 'off' | 'full' | 'conversation' | 'whole' | number;
  readonly context: 'full' | 'thread';
  readonly replies: 'top' | 'recent' | 'off';
  readonly full: boolean;
  readonly userDetail: UserDetail;
}

const maxDirectReplies = 20;

/** Returns the posts of `view` in reading order with their `context`, and warnings. */
export function arrangePosts(found: PostFound, view: PostView) {
  const isForeign = ({ author }: Post) => author !== null && author.id !== found.post.author?.id;
  const foreign = found.ancestors.findLastIndex(isForeign); // the author's own consecutive posts follow it
  const chain = cutThread(
    view.context === 'thread' ? found.ancestors.slice(foreign + 1) : found.ancestors,
    found.continuation,
    view.thread,
  );
  const hasAll = view.thread === 'conversation' || view.thread === 'whole';
  const replies = hasAll ? found.replies : shortenReplies(found);
  const withContext = (context: PostContext) => (post: Post) => ({ ...post, context });
  return {
    posts: [
      ...chain.ancestors.map(withContext('parent')),
      withContext('post')(found.post),
      ...chain.continuation.map(withContext('thread')),
      ...replies.map(withContext('reply')),
    ],
    warnings: chain.warnings,
  };
}

function cutThread(
  ancestors: readonly Post[],
  continuation: readonly Post[],
  thread: PostView['thread'],
) {
  const length = ancestors.length + 1 + continuation.length;
  if (typeof thread !== 'number' || length <= thread) {
    return { ancestors, continuation, warnings: [] };
  }
  const after = continuation.slice(0, thread - 1);
  const before = thread - 1 - after.length;
  return {
    ancestors: before === 0 ? [] : ancestors.slice(-before),
    continuation: after,
    warnings: [`The thread has ${length} posts; thread=${thread} shows ${thread} of them.`],
  };
}

function shortenReplies({ post, continuation, replies }: PostFound): readonly Post[] {
  const thread = new Set([post, ...continuation].map(({ id }) => id));
  let direct = 0;
  return replies.filter((reply) => {
    const isDirect = reply.type === 'tombstone' || thread.has(reply.replying_to?.status ?? null);
    if (isDirect) direct += 1;
    if (direct > maxDirectReplies) return false;
    return isDirect || reply.author?.id === post.author?.id;
  });
}
