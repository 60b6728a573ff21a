import type { Post } from '../../model/post.ts';
import type { Branch } from './tree.ts';

/** Gives the author's answers to themselves: each the first to the one before it. */
export function pickContinuation(focal: Branch): readonly Branch[] {
  const chain: Branch[] = [];
  const author = focal.payload?.author.did;
  let next = firstOwn(focal, author);
  while (next !== undefined) {
    chain.push(next);
    next = firstOwn(next, author);
  }
  return chain;
}

function firstOwn({ replies }: Branch, author: string | undefined): Branch | undefined {
  const [first] = replies
    .filter(({ post, payload }) => post.type === 'status' && payload?.author.did === author)
    .sort(byOldest);
  return first;
}

/**
 * Gives the replies to a post and to its author's continuation in order, each followed by the replies
 * to it, depth-first and oldest first. What stands for a reply comes after those that can be shown; further
 * down it is there only where it holds something up.
 */
export function rankReplies(
  focal: Branch,
  continuation: readonly Branch[],
  order: 'top' | 'recent',
): readonly Post[] {
  const own = new Set(continuation.map(uriOf));
  const direct = [focal, ...continuation]
    .flatMap(({ replies }) => replies)
    .filter((branch) => branch.payload === null || !own.has(uriOf(branch)))
    .sort(order === 'top' ? byLikes : byNewest);
  const found: Post[] = [];
  const waiting = direct.reverse();
  for (let branch = waiting.pop(); branch !== undefined; branch = waiting.pop()) {
    found.push(branch.post);
    waiting.push(...branch.replies.filter(showsSomething).sort(byOldest).reverse());
  }
  return found;
}

function showsSomething({ post, replies }: Branch): boolean {
  return post.type === 'status' || replies.some(showsSomething);
}

function byOldest(a: Branch, b: Branch): number {
  return createdOf(a, 1) - createdOf(b, 1) || compareUris(a, b);
}

function byNewest(a: Branch, b: Branch): number {
  return createdOf(b, -1) - createdOf(a, -1) || compareUris(a, b);
}

function byLikes(a: Branch, b: Branch): number {
  return likesOf(b) - likesOf(a) || byOldest(a, b);
}

/** What cannot be shown comes last, whatever it is sorted by. */
const atTheEnd = Number.MAX_SAFE_INTEGER;

function createdOf({ post, payload }: Branch, direction: 1 | -1): number {
  if (payload === null || post.type === 'tombstone') return direction * atTheEnd;
  return payload.createdMs;
}

function likesOf({ post }: Branch): number {
  return post.type === 'tombstone' ? -2 : (post.likes ?? -1);
}

function uriOf({ payload }: Branch): string {
  return payload?.uri.uri ?? '';
}

function compareUris(a: Branch, b: Branch): number {
  if (uriOf(a) === uriOf(b)) return 0;
  return uriOf(a) < uriOf(b) ? -1 : 1;
}
