import { mapInSlices, type Sliced } from '../../core/scheduling/slices.ts';
import type { Post } from '../../model/post.ts';
import { maximums } from '../../platforms/maximums.ts';
import { createMalformed } from '../failure.ts';
import type { ProviderContext } from '../provider.ts';
import { writePostUri } from './address.ts';
import type { Reading } from './client.ts';
import { type PostPayload, parseMissing, parseThreadNode, type ThreadNode } from './payload.ts';
import { type Shaping, shapeMissing, shapePost, shapeUnreadable } from './shape.ts';

/** A post in a thread with its replies, in the order in which they were sent. */
export interface Branch {
  readonly post: Post;
  /** `null` for a placeholder. */
  readonly payload: PostPayload | null;
  readonly replies: readonly Branch[];
}

export interface Tree {
  readonly focal: Branch;
  /** Oldest first. */
  readonly ancestors: readonly Post[];
  /** Whether there is more above the first of the ancestors. */
  readonly isCutAbove: boolean;
  /** Whether more posts below were sent than a thread may have. */
  readonly isCutBelow: boolean;
}

/** A thread, and how many posts above and below are asked for. */
export interface AskedTree {
  /** A handle or a DID; the AppView finds the account of either. */
  readonly account: string;
  readonly rkey: string;
  readonly reach: { readonly parentHeight: number; readonly depth: number };
}

/** Reads the thread of a post. Throws ProviderError. */
export async function readTree(
  { query, clock }: Reading,
  { account, rkey, reach }: AskedTree,
  context: ProviderContext,
): Promise<Tree> {
  const parameters = { uri: writePostUri(account, rkey), ...reach };
  const body = await query('app.bsky.feed.getPostThread', parameters, context);
  const tree = await shapeTree(body.thread, clock.now(), context);
  if (tree === null) throw createMalformed();
  return tree;
}

async function shapeTree(thread: unknown, nowMs: number, sliced: Sliced): Promise<Tree | null> {
  const focal = parseThreadNode(thread);
  if (focal === null) {
    const missing = parseMissing(thread);
    if (missing === null) return null;
    const post = shapeMissing(missing);
    const branch: Branch = { post, payload: null, replies: [] };
    return { focal: branch, ancestors: [], isCutAbove: false, isCutBelow: false };
  }
  const above = await shapeAbove(focal.parent, nowMs, sliced);
  return {
    ...(await shapeBelow(focal, { nowMs, parentAuthor: above.parentAuthor }, sliced)),
    ancestors: above.ancestors,
    isCutAbove: above.ancestors.length === 0 ? focal.post.record.reply !== null : above.isCut,
  };
}

/** Goes up from parent to parent. Nothing is known of what is above a post that was not sent. */
async function shapeAbove(start: unknown, nowMs: number, sliced: Sliced) {
  const payloads: PostPayload[] = [];
  let place = start;
  while (payloads.length < maximums.rows) {
    await sliced.endSlice?.();
    const node = parseThreadNode(place);
    if (node === null) break;
    payloads.push(node.post);
    place = node.parent;
  }
  const shape = (payload: PostPayload, index: number) =>
    shapePost(payload, { nowMs, parentAuthor: payloads[index + 1]?.author ?? null });
  const posts = await mapInSlices(payloads, shape, sliced);
  const end = place === undefined || place === null ? [] : [shapeEnd(place)];
  return {
    ancestors: [...posts, ...end].reverse(),
    isCut: end.length === 0 && (payloads.at(-1)?.record.reply ?? null) !== null,
    parentAuthor: payloads[0]?.author ?? null,
  };
}

function shapeEnd(place: unknown): Post {
  const missing = parseMissing(place);
  return missing === null ? shapeUnreadable() : shapeMissing(missing);
}

/** A branch whose replies are still to be added, out of those of its node. */
interface Growing {
  readonly branch: Branch & { readonly replies: Branch[] };
  readonly node: ThreadNode | null;
}

/** Shapes what hangs below a post level by level, so that of a large thread the direct replies are here. */
async function shapeBelow(focal: ThreadNode, { nowMs, parentAuthor }: Shaping, sliced: Sliced) {
  const root = grow(focal, { nowMs, parentAuthor });
  const growing: Growing[] = [root];
  let isCutBelow = false;
  for (const { branch, node } of growing) {
    if (node === null) continue;
    const room = maximums.rows + 1 - growing.length;
    const replies = node.replies.slice(0, room);
    isCutBelow ||= replies.length < node.replies.length || node.replies.leftOut !== undefined;
    for (const reply of replies) {
      await sliced.endSlice?.();
      const grown = growReply(reply, { nowMs, parentAuthor: node.post.author });
      growing.push(grown);
      branch.replies.push(grown.branch);
    }
  }
  return { focal: root.branch, isCutBelow };
}

function growReply(value: unknown, shaping: Shaping): Growing {
  const node = parseThreadNode(value);
  if (node !== null) return grow(node, shaping);
  return { branch: { post: shapeEnd(value), payload: null, replies: [] }, node };
}

function grow(node: ThreadNode, shaping: Shaping): Growing {
  const { post: payload } = node;
  return { branch: { post: shapePost(payload, shaping), payload, replies: [] }, node };
}

/** Returns the author's answers to themselves: each the first to the one before it. */
export function pickContinuation(focal: Branch): readonly Branch[] {
  const chain: Branch[] = [];
  const author = focal.payload?.author.did;
  const firstOwn = ({ replies }: Branch) =>
    replies
      .filter(({ post, payload }) => post.type === 'status' && payload?.author.did === author)
      .sort(byOldest)[0];
  for (let next = firstOwn(focal); next !== undefined; next = firstOwn(next)) chain.push(next);
  return chain;
}

/**
 * Returns the replies to a post and its continuation in order, each followed by the replies to it,
 * oldest
 * first. Placeholders come last; further down only those with a reply to show are included.
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
