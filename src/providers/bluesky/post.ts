import { HttpFailure } from '../../core/http/http-client.ts';
import type { Post } from '../../model/post.ts';
import type { PostFound, PostQuery } from '../../model/queries.ts';
import { maximums } from '../../platforms/maximums.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { orNull } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { toRepliesPage, uniqueBy } from '../rows.ts';
import type { Reading } from './client.ts';
import {
  type AskedTree,
  type Branch,
  pickContinuation,
  rankReplies,
  readTree,
  type Tree,
} from './tree.ts';

const maxParents = 100;

/** Replies so far down are seldom read, and a wide thread is as large as it is deep. */
const replyDepth = 6;

/** How far down the chain of one author is asked for: it is long, and narrow. */
const chainDepth = 20;

/** How often the end of a chain is asked for what follows it. */
const maxFurther = 5;

const cutAbove = 'The thread begins further up; the posts before these were not sent.';
const tooLarge =
  'This thread is too large to be read whole; of the replies, the direct ones are here.';
const tooLong = `Perch reads at most ${maximums.rows} replies of a thread; this one has more.`;
const cutBelow = 'What the author added after this post may go on; the rest could not be read.';

interface Continuation {
  readonly branches: readonly Branch[];
  /** Whether there may be more of it. */
  readonly isCut: boolean;
  /** Whether more of it was asked for and did not come. */
  readonly hasFailed: boolean;
}

const noContinuation: Continuation = { branches: [], isCut: false, hasFailed: false };

/** Creates the read of a post, with its thread and replies where they are wanted. */
export function askPost(reading: Reading): Ask<'post'> {
  return async (query, context) => {
    const { tree, depth, isTooLarge } = await readAsked(reading, query, context);
    const below = query.thread
      ? await readContinuation(reading, { focal: tree.focal, depth }, context)
      : noContinuation;
    const found = arrange(query, tree, below);
    return isTooLarge ? { ...found, warnings: [...found.warnings, tooLarge] } : found;
  };
}

/** Creates the read of the replies to a post, which Bluesky sends as one tree. */
export function askReplies(reading: Reading): Ask<'replies'> {
  return async ({ post, order }, context) => {
    const query = { kind: 'post', post, thread: false, replies: order } as const;
    const { tree, isTooLarge } = await readAsked(reading, query, context);
    const found = arrange(query, tree, noContinuation);
    const warnings = isTooLarge ? [tooLarge] : tellUnsent(tree.focal);
    return toRepliesPage({ ...found, warnings });
  };
}

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

/** @throws ProviderError `missing` for a post that cannot be shown */
async function readAsked(reading: Reading, query: PostQuery, context: ProviderContext) {
  const { post: asked, thread, replies } = query;
  const { known } = reading;
  const below = thread ? chainDepth : 0;
  const depth = replies === 'off' ? below : replyDepth;
  const reach = { parentHeight: thread ? maxParents : 0, depth };
  const account = known.actorFor(asked.handle ?? '');
  const whole = await readWhole(reading, { account, rkey: asked.id, reach }, context);
  const { post, payload } = whole.tree.focal;
  if (post.type === 'tombstone') throw new ProviderError('missing', post.text);
  if (payload !== null) known.note(asked.handle ?? '', payload.author);
  return whole;
}

/** Reads a thread; of one whose body is too large, only the direct replies. */
async function readWhole(reading: Reading, asked: AskedTree, context: ProviderContext) {
  const { reach } = asked;
  try {
    const tree = await readTree(reading, asked, context);
    return { tree, depth: reach.depth, isTooLarge: false };
  } catch (error) {
    if (!isOversize(error) || reach.depth <= 1) throw error;
    const shallow = { ...asked, reach: { ...reach, depth: 1 } };
    return { tree: await readTree(reading, shallow, context), depth: 1, isTooLarge: true };
  }
}

function isOversize(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false;
  return error.cause instanceof HttpFailure && error.cause.kind === 'too_large';
}

/** Returns the author's continuation, whose last post is asked for more if it is long. */
async function readContinuation(
  reading: Reading,
  { focal, depth }: { readonly focal: Branch; readonly depth: number },
  context: ProviderContext,
): Promise<Continuation> {
  const branches = [...pickContinuation(focal)];
  let isCut = branches.length >= depth;
  for (let asked = 0; isCut && asked < maxFurther; asked += 1) {
    const last = branches.pop() ?? focal;
    const below = await readBelow(reading, last, context);
    branches.push(below ?? last);
    if (below === null) return { branches, isCut, hasFailed: true };
    const further = pickContinuation(below);
    branches.push(...further);
    isCut = further.length >= chainDepth;
  }
  return { branches, isCut, hasFailed: false };
}

/** Reads what follows a post, if there may be any. The thread so far is known, so a failure is `null`. */
async function readBelow(reading: Reading, last: Branch, context: ProviderContext) {
  const { payload } = last;
  if (payload === null || payload.replyCount === 0) return last;
  const { did: account, rkey } = payload.uri;
  const reach = { parentHeight: 0, depth: chainDepth };
  const tree = await orNull(readTree(reading, { account, rkey, reach }, context), context);
  return tree?.focal.post.type === 'status' ? tree.focal : null;
}

/** Puts the parts in order, each post once. */
function arrange(
  { thread, replies: order }: PostQuery,
  tree: Tree,
  below: Continuation,
): PostFound {
  const { focal, ancestors, isCutAbove, isCutBelow } = tree;
  // Record keys are the author's choice, so posts are told apart by their addresses.
  const seen = new Set<string>();
  const take = (posts: readonly Post[]) => uniqueBy(posts, ({ url }) => url, seen);
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
