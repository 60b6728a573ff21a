import { HttpFailure } from '../../core/http/http-client.ts';
import type { Post } from '../../model/post.ts';
import type { PostFound, PostQuery } from '../../model/queries.ts';
import { maximums } from '../../platforms/maximums.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { toRepliesPage } from '../rows.ts';
import { type Continuation, chainDepth, readContinuation } from './continuation.ts';
import { rankReplies } from './conversation.ts';
import type { Reading } from './reading.ts';
import { type AskedTree, type Branch, type Reach, readTree, type Tree } from './tree.ts';

const maxParents = 100;

/** Replies so far down are seldom read, and a wide thread is as large as it is deep. */
const replyDepth = 6;

const cutAbove = 'The thread begins further up; the posts before these were not sent.';
const tooLarge =
  'This thread is too large to be read whole; of the replies, the direct ones are here.';
const tooLong = `Perch reads at most ${maximums.rows} replies of a thread; this one has more.`;
const cutBelow = 'What the author added after this post may go on; the rest could not be read.';

/** Makes the read of a post, with its thread and replies where they are wanted. */
export function askPost(reading: Reading): Ask<'post'> {
  return async (query, context) => {
    const { tree, reach, isTooLarge } = await readAsked(reading, query, context);
    const below: Continuation = query.thread
      ? await readContinuation(reading, { focal: tree.focal, depth: reach.depth }, context)
      : { branches: [], isCut: false, hasFailed: false };
    const found = arrange(query, tree, below);
    return isTooLarge ? { ...found, warnings: [...found.warnings, tooLarge] } : found;
  };
}

/** Creates the read of the replies to a post, which Bluesky sends as one tree. */
export function askReplies(reading: Reading): Ask<'replies'> {
  return async ({ post, order }, context) => {
    const query = { kind: 'post', post, thread: false, replies: order } as const;
    const { tree, isTooLarge } = await readAsked(reading, query, context);
    const found = arrange(query, tree, { branches: [], isCut: false, hasFailed: false });
    const warnings = isTooLarge ? [tooLarge] : tellUnsent(tree.focal);
    return toRepliesPage({ ...found, warnings });
  };
}

/** Tells that a tree has fewer replies than Bluesky counts. */
function tellUnsent(focal: Branch): readonly string[] {
  const count = countUnsent(focal);
  if (count === 0) return [];
  const replies = count === 1 ? '1 more reply' : `${count} more replies`;
  return [
    `Bluesky counts ${replies} than it sent: it sends ${replyDepth} levels, and not all of them.`,
  ];
}

function countUnsent({ payload, replies }: Branch): number {
  const own = Math.max(0, (payload?.replyCount ?? 0) - replies.length);
  return replies.reduce((sum, reply) => sum + countUnsent(reply), own);
}

async function readAsked(
  reading: Reading,
  query: PostQuery,
  context: ProviderContext,
): Promise<Whole> {
  const { handle, id } = query.post;
  const account = reading.known.actorFor(handle ?? '');
  const whole = await readWhole(reading, { account, rkey: id, reach: toReach(query) }, context);
  const { post, payload } = whole.tree.focal;
  refuseMissing(post);
  if (payload !== null) reading.known.note(handle ?? '', payload.author);
  return whole;
}

interface Whole {
  readonly tree: Tree;
  readonly reach: Reach;
  readonly isTooLarge: boolean;
}

/** Reads a thread; of one that is larger than a body may be, the direct replies. */
async function readWhole(
  reading: Reading,
  asked: AskedTree,
  context: ProviderContext,
): Promise<Whole> {
  const { reach } = asked;
  try {
    return { tree: await readTree(reading, asked, context), reach, isTooLarge: false };
  } catch (error) {
    if (!isOversize(error) || reach.depth <= 1) throw error;
    const shallow = { ...reach, depth: 1 };
    const tree = await readTree(reading, { ...asked, reach: shallow }, context);
    return { tree, reach: shallow, isTooLarge: true };
  }
}

function isOversize(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  return error.cause instanceof HttpFailure && error.cause.kind === 'too_large';
}

function toReach({ thread, replies }: PostQuery): Reach {
  const depth = replies !== 'off' ? replyDepth : thread ? chainDepth : 0;
  return { parentHeight: thread ? maxParents : 0, depth };
}

/** @throws ProviderError `missing` for what is no post that can be shown */
function refuseMissing(post: Post): void {
  if (post.type === 'tombstone') throw new ProviderError('missing', post.text);
}

/** Puts the parts in order, each post once. */
function arrange(
  { thread, replies: order }: PostQuery,
  tree: Tree,
  below: Continuation,
): PostFound {
  const { focal, ancestors, isCutAbove, isCutBelow } = tree;
  const take = createOnce();
  const [post = focal.post] = take([focal.post]);
  return {
    ancestors: thread ? take(ancestors) : [],
    post,
    continuation: take(below.branches.map((branch) => branch.post)),
    replies: order === 'off' ? [] : take(rankReplies(focal, below.branches, order)),
    missing: below.hasFailed ? ['thread'] : [],
    warnings: [
      ...(thread && isCutAbove ? [cutAbove] : []),
      ...(below.isCut ? [cutBelow] : []),
      ...(isCutBelow ? [tooLong] : []),
    ],
  };
}

/**
 * Makes a filter that lets each post through once. Record keys are the author's choice, so two authors
 * can have the same; what stands for a post may have no address.
 */
function createOnce(): (posts: readonly Post[]) => readonly Post[] {
  const seen = new Set<string>();
  return (posts) =>
    posts.filter(({ url }) => {
      if (url === null) return true;
      const isNew = !seen.has(url);
      seen.add(url);
      return isNew;
    });
}
