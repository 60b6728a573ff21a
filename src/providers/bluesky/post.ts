import { HttpFailure } from '../../core/http/http-client.ts';
import { mapInSlices, type Sliced } from '../../core/scheduling/slices.ts';
import type { Post } from '../../model/post.ts';
import type { PostFound, PostQuery } from '../../model/queries.ts';
import { maximums } from '../../platforms/maximums.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed, orNull } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { toRepliesPage, uniqueBy } from '../rows.ts';
import type { Reading } from './client.ts';
import {
  type PostPayload,
  parseMissing,
  parseThreadNode,
  type ThreadNode,
  writePostUri,
} from './payload.ts';
import { type Shaping, shapeMissing, shapePost, shapeUnreadable } from './shape.ts';

const maxParents = 100;

/** Replies so far down are seldom read, and a wide thread is as large as it is deep. */
const replyDepth = 6;

const chainDepth = 20; // how far down the chain of one author is asked for: it is long, and narrow
const maxFurther = 5; // how often the end of a chain is asked for what follows it

const cutAbove = 'The thread begins further up; the posts before these were not sent.';
const tooLarge =
  'This thread is too large to be read whole; of the replies, the direct ones are here.';
const tooLong = `Perch reads at most ${maximums.rows} replies of a thread; this one has more.`;
const cutBelow = 'What the author added after this post may go on; the rest could not be read.';

interface Continuation {
  readonly branches: readonly Branch[];
  readonly isCut: boolean;
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
    const cause = error instanceof ProviderError ? error.cause : undefined;
    const isOversize = cause instanceof HttpFailure && cause.kind === 'too_large';
    if (!isOversize || reach.depth <= 1) throw error;
    const shallow = { ...asked, reach: { ...reach, depth: 1 } };
    return { tree: await readTree(reading, shallow, context), depth: 1, isTooLarge: true };
  }
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

export interface Branch {
  readonly post: Post;
  /** `null` for a placeholder. */
  readonly payload: PostPayload | null;
  readonly replies: readonly Branch[];
}

export interface Tree {
  readonly focal: Branch;
  readonly ancestors: readonly Post[];
  readonly isCutAbove: boolean;
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

interface Growing {
  readonly branch: Branch & { readonly replies: Branch[] };
  readonly node: ThreadNode | null;
}

/** Shapes what hangs below a post level by level, so that of a large thread the direct replies are here. */
async function shapeBelow(focal: ThreadNode, { nowMs, parentAuthor }: Shaping, sliced: Sliced) {
  const root = grow(null, focal, { nowMs, parentAuthor });
  const growing: Growing[] = [root];
  let isCutBelow = false;
  for (const { branch, node } of growing) {
    if (node === null) continue;
    const room = maximums.rows + 1 - growing.length;
    const replies = node.replies.slice(0, room);
    isCutBelow ||= replies.length < node.replies.length || node.replies.leftOut !== undefined;
    for (const reply of replies) {
      await sliced.endSlice?.();
      const shaping = { nowMs, parentAuthor: node.post.author };
      const grown = grow(reply, parseThreadNode(reply), shaping);
      growing.push(grown);
      branch.replies.push(grown.branch);
    }
  }
  return { focal: root.branch, isCutBelow };
}

function grow(value: unknown, node: ThreadNode | null, shaping: Shaping): Growing {
  const { post: payload = null } = node ?? {};
  const post = payload === null ? shapeEnd(value) : shapePost(payload, shaping);
  return { branch: { post, payload, replies: [] }, node };
}

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
 * oldest first. Placeholders come last; further down only those with a reply to show are included.
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
    .sort(orders[order]);
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

const orders = {
  top: (a: Branch, b: Branch) => likesOf(b) - likesOf(a) || byOldest(a, b),
  recent: (a: Branch, b: Branch) => createdOf(b, -1) - createdOf(a, -1) || compareUris(a, b),
};

/** What cannot be shown comes last, whatever it is sorted by. */
function createdOf({ post, payload }: Branch, direction: 1 | -1): number {
  if (payload === null || post.type === 'tombstone') return direction * Number.MAX_SAFE_INTEGER;
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
