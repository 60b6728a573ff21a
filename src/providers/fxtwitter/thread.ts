import { mapInSlices, type Sliced } from '../../core/scheduling/slices.ts';
import type { Post, Status } from '../../model/post.ts';
import type { PostFound } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { ProviderContext } from '../provider.ts';
import type { Rows } from '../rows.ts';
import type { FxTwitterClient } from './client.ts';
import { pickContinuation, splitThread, type ThreadLine } from './conversation.ts';
import type { PostPayload } from './payload.ts';
import { tellUnread } from './rows.ts';
import { parentOf, shapePost } from './shape.ts';
import { tellThrottled } from './throttle.ts';

/** What is known of the thread of a post, and what a reader should know of it. */
export interface KnownThread {
  readonly line: ThreadLine;
  readonly missing: PostFound['missing'];
  readonly warnings: readonly string[];
}

const fromReplies =
  'What the author added after this post was looked for among the replies and may be incomplete.';
const brokenWalk = 'The posts before this one could not all be read.';
const noContinuation = 'What the author added after this post could not be read.';

/** Gives the thread that `/2/thread` sent; null where it had the single post only. */
export async function knownFromThread(
  focal: Status,
  thread: Rows<PostPayload> | null,
  sliced: Sliced,
): Promise<KnownThread | null> {
  if (thread === null) return null;
  const line = splitThread(await mapInSlices(thread.rows, shapePost, sliced), focal.id);
  return { line, missing: [], warnings: tellUnread(thread, 'post') };
}

/** What `/2/conversation` sent around a post. */
export interface Conversation {
  readonly thread: Rows<PostPayload> | null;
  readonly replies: readonly Post[];
}

/** Gives the thread that `/2/conversation` sent, which has the author's continuation in `replies`. */
export async function knownFromConversation(
  focal: Status,
  { thread, replies }: Conversation,
  sliced: Sliced,
): Promise<KnownThread | null> {
  if (thread === null) return null;
  const shaped = await mapInSlices(thread.rows, shapePost, sliced);
  const { ancestors } = splitThread(shaped, focal.id);
  const line = { ancestors, continuation: pickContinuation(focal, replies) };
  return { line, missing: [], warnings: [fromReplies, ...tellUnread(thread, 'post')] };
}

const maxParents = 20;

/** Reads the parents one by one, as far as they are known. What follows the post stays unknown. */
export async function walkParents(
  client: FxTwitterClient,
  focal: Status,
  context: ProviderContext,
): Promise<KnownThread> {
  const found: Post[] = [];
  const seen = new Set([focal.id]);
  let next = focal.replying_to?.status ?? null;
  while (next !== null && !seen.has(next) && found.length < maxParents) {
    seen.add(next);
    const row = await readParent(client, next, context);
    if (row === null) break;
    found.push(shapePost(row));
    if (row.type === 'tombstone') break; // it does not say what it answers
    next = parentOf(row);
  }
  return {
    line: { ancestors: found.toReversed(), continuation: [] },
    missing: ['thread'],
    warnings: next === null ? [noContinuation] : [brokenWalk, noContinuation],
  };
}

/** Any failure ends the walk: the post itself is known, and what was read of its parents is kept. */
async function readParent(
  client: FxTwitterClient,
  id: string,
  context: ProviderContext,
): Promise<PostPayload | null> {
  try {
    return await client.readRow(id, context);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    tellThrottled(context, error);
    return null;
  }
}
