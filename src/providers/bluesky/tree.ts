import { mapInSlices, type Sliced } from '../../core/scheduling/slices.ts';
import type { Post } from '../../model/post.ts';
import { maximums } from '../../platforms/maximums.ts';
import { createMalformed } from '../failure.ts';
import type { ProviderContext } from '../provider.ts';
import { writePostUri } from './address.ts';
import {
  type ActorPayload,
  type PostPayload,
  parseMissing,
  parseThreadNode,
  type ThreadNode,
} from './payload.ts';
import type { Reading } from './reading.ts';
import { type Shaping, shapeMissing, shapePost, shapeUnreadable } from './shape.ts';

/** A place in a thread with all that answers it, in the order in which it was sent. */
export interface Branch {
  readonly post: Post;
  /** What was sent; null where something stands for a post. */
  readonly payload: PostPayload | null;
  readonly replies: readonly Branch[];
}

/** A post with what stands above and below it. */
export interface Tree {
  readonly focal: Branch;
  /** The first post of the thread first. */
  readonly ancestors: readonly Post[];
  /** Whether there is more above the first of the ancestors. */
  readonly isCutAbove: boolean;
  /** Whether more posts below were sent than a thread may have. */
  readonly isCutBelow: boolean;
}

/** How far a thread is asked for, in posts above and below. */
export interface Reach {
  readonly parentHeight: number;
  readonly depth: number;
}

/** Which thread is asked for. */
export interface AskedTree {
  /** A handle or a DID; the AppView finds the account of either. */
  readonly account: string;
  readonly rkey: string;
  readonly reach: Reach;
}

/**
 * Asks for the thread of a post.
 *
 * @throws ProviderError
 */
export async function readTree(
  { client, clock }: Reading,
  { account, rkey, reach }: AskedTree,
  context: ProviderContext,
): Promise<Tree> {
  const parameters = { uri: writePostUri(account, rkey), ...reach };
  const body = await client.query('app.bsky.feed.getPostThread', parameters, context);
  const tree = await shapeTree(body.thread, clock.now(), context);
  if (tree === null) throw createMalformed();
  return tree;
}

/** Reads the thread of a post; null where it breaks the contract. */
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

interface Above {
  readonly ancestors: readonly Post[];
  readonly isCut: boolean;
  /** Who wrote the post right above; null where that was not sent. */
  readonly parentAuthor: ActorPayload | null;
}

/** Goes up from parent to parent. Nothing is known of what is above a post that was not sent. */
async function shapeAbove(start: unknown, nowMs: number, sliced: Sliced): Promise<Above> {
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
async function shapeBelow(
  focal: ThreadNode,
  { nowMs, parentAuthor }: Shaping,
  sliced: Sliced,
): Promise<Pick<Tree, 'focal' | 'isCutBelow'>> {
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
