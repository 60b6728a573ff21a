import type { Post } from '../../model/post.ts';
import { createMalformed } from '../failure.ts';
import type { ProviderContext } from '../provider.ts';
import { writePostUri } from './address.ts';
import { type ActorPayload, type PostPayload, parseMissing, parseThreadNode } from './payload.ts';
import type { Reading } from './reading.ts';
import { shapeMissing, shapePost, shapeUnreadable } from './shape.ts';
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
  const tree = shapeTree(body.thread, clock.now());
  if (tree === null) throw createMalformed();
  return tree;
}

/** Reads the thread of a post; null where it breaks the contract. */
function shapeTree(thread: unknown, nowMs: number): Tree | null {
  const focal = parseThreadNode(thread);
  if (focal === null) {
    const missing = parseMissing(thread);
    if (missing === null) return null;
    const post = shapeMissing(missing);
    return { focal: { post, payload: null, replies: [] }, ancestors: [], isCutAbove: false };
  }
  const above = shapeAbove(focal.parent, nowMs);
  const parentAuthor = above.parentAuthor;
  return {
    focal: shapeBranch(thread, { nowMs, parentAuthor }),
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
function shapeAbove(start: unknown, nowMs: number): Above {
  const payloads: PostPayload[] = [];
  let place = start;
  for (let node = parseThreadNode(place); node !== null; node = parseThreadNode(place)) {
    payloads.push(node.post);
    place = node.parent;
  }
  const posts = payloads.map((payload, index) =>
    shapePost(payload, { nowMs, parentAuthor: payloads[index + 1]?.author ?? null }),
  );
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

interface Place {
  readonly nowMs: number;
  readonly parentAuthor: ActorPayload | null;
}

function shapeBranch(value: unknown, { nowMs, parentAuthor }: Place): Branch {
  const node = parseThreadNode(value);
  if (node === null) return { post: shapeEnd(value), payload: null, replies: [] };
  const { post: payload, replies } = node;
  return {
    post: shapePost(payload, { nowMs, parentAuthor }),
    payload,
    replies: replies.map((reply) => shapeBranch(reply, { nowMs, parentAuthor: payload.author })),
  };
}
