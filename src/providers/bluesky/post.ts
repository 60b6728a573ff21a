import { HttpFailure } from '../../lib/http/http-client.ts';
import { mapWithPauses } from '../../lib/scheduling/map.ts';
import type { Post } from '../../model/post.ts';
import type { PostFound, PostQuery } from '../../model/queries.ts';
import { writePostUri } from '../../normalize/bluesky/addresses.ts';
import {
  type Shaping,
  shapeMissing,
  shapePost,
  shapeUnreadable,
} from '../../normalize/bluesky/normalize.ts';
import {
  type PostPayload,
  parseMissing,
  parseThreadNode,
  type ThreadNode,
} from '../../normalize/bluesky/wire.ts';
import { maximums } from '../../normalize/maximums.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { unavailabilityOf } from '../../normalize/unavailable.ts';
import { createMalformed, readOrNull, toMissing } from '../failure.ts';
import type { Fetch, ProviderContext } from '../provider.ts';
import { toRepliesPage, uniqueBy } from '../rows.ts';
import type { BlueskyClient } from './client.ts';

const maxParents = 100;

const replyDepth = 6; // requested levels of replies: more levels make the response much larger

const chainDepth = 20; // requested levels of an author's thread, which has few branches
const maxFurther = 5; // maximum number of further requests for the rest of an author's thread

const missingAncestors =
  'Earlier posts of this thread are missing, because Bluesky did not send them.';
const tooLarge =
  'This thread is too large to read completely. Only the direct replies are included.';
const tooManyReplies = `Perch reads at most ${maximums.rows} replies of a thread; this thread has more.`;
const missingContinuation =
  'The author’s thread may continue, but Perch could not read more posts of it.';

interface Continuation {
  readonly branches: readonly Branch[];
  readonly isCut: boolean;
  readonly hasFailed: boolean;
}

const noContinuation: Continuation = { branches: [], isCut: false, hasFailed: false };

export function fetchPost(client: BlueskyClient): Fetch<'post'> {
  return async (query, context) => {
    const { tree, depth, isTooLarge } = await readRequested(client, query, context);
    const below = query.thread
      ? await readContinuation(client, { focal: tree.focal, depth }, context)
      : noContinuation;
    const found = arrange(query, tree, below);
    if (!isTooLarge || query.replies === 'off') return found;
    return { ...found, warnings: [...found.warnings, tooLarge] };
  };
}

export function fetchReplies(client: BlueskyClient): Fetch<'replies'> {
  return async ({ post, order }, context) => {
    const query = { kind: 'post', post, thread: false, replies: order } as const;
    const { tree, isTooLarge } = await readRequested(client, query, context);
    const found = arrange(query, tree, noContinuation);
    const warnings = isTooLarge ? [tooLarge] : describeUnsent(tree.focal);
    return toRepliesPage({ ...found, warnings });
  };
}

function describeUnsent(focal: Branch): readonly string[] {
  const count = countUnsent(focal);
  if (count === 0) return [];
  const replies = count === 1 ? '1 more reply' : `${count} more replies`;
  return [
    `Bluesky counts ${replies} than it sent. Bluesky sends up to ${replyDepth} levels of replies, and may omit some replies.`,
  ];
}

function countUnsent({ payload, replies }: Branch): number {
  const own = Math.max(0, (payload?.replyCount ?? 0) - replies.length);
  return replies.reduce((sum, reply) => sum + countUnsent(reply), own);
}

async function readRequested(client: BlueskyClient, query: PostQuery, context: ProviderContext) {
  const { post: reference, thread, replies } = query;
  const { known } = client;
  const below = thread ? chainDepth : 0;
  const depth = replies === 'off' ? below : replyDepth;
  const reach = { parentHeight: thread ? maxParents : 0, depth };
  const account = known.actorFor(reference.handle ?? '');
  const whole = await readWhole(client, { account, rkey: reference.id, reach }, context);
  const { post, payload } = whole.tree.focal;
  if (post.type === 'tombstone') throw toMissing(unavailabilityOf(post));
  if (payload !== null) known.note(reference.handle ?? '', payload.author);
  return whole;
}

async function readWhole(client: BlueskyClient, request: TreeRequest, context: ProviderContext) {
  const { reach } = request;
  try {
    const tree = await readTree(client, request, context);
    return { tree, depth: reach.depth, isTooLarge: false };
  } catch (error) {
    const cause = error instanceof ProviderError ? error.cause : undefined;
    const isOversize = cause instanceof HttpFailure && cause.kind === 'too_large';
    if (!isOversize || reach.depth <= 1) throw error;
    const shallow = { ...request, reach: { ...reach, depth: 1 } };
    return { tree: await readTree(client, shallow, context), depth: 1, isTooLarge: true };
  }
}

async function readContinuation(
  client: BlueskyClient,
  { focal, depth }: { readonly focal: Branch; readonly depth: number },
  context: ProviderContext,
): Promise<Continuation> {
  const branches = [...pickContinuation(focal)];
  let isCut = branches.length >= depth;
  for (let requests = 0; isCut && requests < maxFurther; requests += 1) {
    const last = branches.pop() ?? focal;
    const below = await readBelow(client, last, context);
    branches.push(below ?? last);
    if (below === null) return { branches, isCut, hasFailed: true };
    const further = pickContinuation(below);
    branches.push(...further);
    isCut = further.length >= chainDepth;
  }
  return { branches, isCut, hasFailed: false };
}

async function readBelow(client: BlueskyClient, last: Branch, context: ProviderContext) {
  const { payload } = last;
  if (payload === null || payload.replyCount === 0) return last;
  const { did: account, rkey } = payload.uri;
  const reach = { parentHeight: 0, depth: chainDepth };
  const tree = await readOrNull(readTree(client, { account, rkey, reach }, context), context);
  return tree?.focal.post.type === 'status' ? tree.focal : null;
}

function arrange(
  { thread, replies: order }: PostQuery,
  tree: Tree,
  below: Continuation,
): PostFound {
  const { focal, ancestors, isMissingAncestors, isMissingReplies } = tree;
  // Posts are identified by URL, because authors choose their record keys, which are not unique.
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
      ...(thread && isMissingAncestors ? [missingAncestors] : []),
      ...(below.isCut ? [missingContinuation] : []),
      ...(isMissingReplies ? [tooManyReplies] : []),
    ],
  };
}

export interface Branch {
  readonly post: Post;
  /** Post as received from Bluesky; `null` if the post is missing or malformed. */
  readonly payload: PostPayload | null;
  readonly replies: readonly Branch[];
}

export interface Tree {
  readonly focal: Branch;
  readonly ancestors: readonly Post[];
  readonly isMissingAncestors: boolean;
  readonly isMissingReplies: boolean;
}

/** Request for a post with its ancestors and its replies. */
export interface TreeRequest {
  readonly account: string;
  readonly rkey: string;
  /** Number of levels to read above (`parentHeight`) and below (`depth`) the post. */
  readonly reach: { readonly parentHeight: number; readonly depth: number };
}

export async function readTree(
  { query, clock }: BlueskyClient,
  { account, rkey, reach }: TreeRequest,
  context: ProviderContext,
): Promise<Tree> {
  const parameters = { uri: writePostUri(account, rkey), ...reach };
  const body = await query('app.bsky.feed.getPostThread', parameters, context);
  const tree = await shapeTree(body.thread, clock.now());
  if (tree === null) throw createMalformed();
  return tree;
}

async function shapeTree(thread: unknown, nowMs: number): Promise<Tree | null> {
  const focal = parseThreadNode(thread);
  if (focal === null) {
    const missing = parseMissing(thread);
    if (missing === null) return null;
    const branch: Branch = { post: shapeMissing(missing), payload: null, replies: [] };
    return { focal: branch, ancestors: [], isMissingAncestors: false, isMissingReplies: false };
  }
  const above = await shapeAbove(focal.parent, nowMs);
  return {
    ...(await shapeBelow(focal, { nowMs, parentAuthor: above.parentAuthor })),
    ancestors: above.ancestors,
    isMissingAncestors:
      above.ancestors.length === 0 ? focal.post.record.reply !== null : above.isCut,
  };
}

async function shapeAbove(start: unknown, nowMs: number) {
  const payloads: PostPayload[] = [];
  let place = start;
  while (payloads.length < maximums.rows) {
    const node = parseThreadNode(place);
    if (node === null) break;
    payloads.push(node.post);
    place = node.parent;
  }
  const parentAuthors = payloads.slice(1).map(({ author }) => author);
  const rows = payloads.map((payload, at) => ({
    payload,
    parentAuthor: parentAuthors[at] ?? null,
  }));
  const posts = await mapWithPauses(rows, ({ payload, parentAuthor }) =>
    shapePost(payload, { nowMs, parentAuthor }),
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

interface GrowingBranch {
  readonly branch: Branch & { readonly replies: Branch[] };
  readonly node: ThreadNode | null;
}

async function shapeBelow(focal: ThreadNode, { nowMs, parentAuthor }: Shaping) {
  const root = grow(null, focal, { nowMs, parentAuthor });
  const growing: GrowingBranch[] = [root];
  let isMissingReplies = false;
  for (const { branch, node } of growing) {
    if (node === null) continue;
    const replies = node.replies.slice(0, maximums.rows + 1 - growing.length);
    isMissingReplies ||= replies.length < node.replies.length || node.replies.leftOut !== undefined;
    const shaping = { nowMs, parentAuthor: node.post.author };
    const grown = await mapWithPauses(replies, (reply) =>
      grow(reply, parseThreadNode(reply), shaping),
    );
    growing.push(...grown);
    branch.replies.push(...grown.map((below) => below.branch));
  }
  return { focal: root.branch, isMissingReplies };
}

function grow(value: unknown, node: ThreadNode | null, shaping: Shaping): GrowingBranch {
  const { post: payload = null } = node ?? {};
  const post = payload === null ? shapeEnd(value) : shapePost(payload, shaping);
  return { branch: { post, payload, replies: [] }, node };
}

/** Returns the author's first reply to `focal`, the author's first reply to that, and so on. */
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
 * Returns all replies to the author's thread as a flat list: direct replies by `order`,
 * placeholders last, each followed by the replies to it, oldest first. Omits placeholders below the
 * first level that have no visible descendants.
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

const showsSomething = ({ post, replies }: Branch): boolean =>
  post.type === 'status' || replies.some(showsSomething);

const byOldest = (a: Branch, b: Branch): number =>
  createdOf(a, 1) - createdOf(b, 1) || compareUris(a, b);

const orders = {
  top: (a: Branch, b: Branch) => likesOf(b) - likesOf(a) || byOldest(a, b),
  recent: (a: Branch, b: Branch) => createdOf(b, -1) - createdOf(a, -1) || compareUris(a, b),
};

function createdOf({ post, payload }: Branch, direction: 1 | -1): number {
  if (payload === null || post.type === 'tombstone') return direction * Number.MAX_SAFE_INTEGER;
  return payload.createdMs;
}

const likesOf = ({ post }: Branch): number => (post.type === 'tombstone' ? -2 : (post.likes ?? -1));

const uriOf = ({ payload }: Branch): string => payload?.uri.uri ?? '';

function compareUris(a: Branch, b: Branch): number {
  if (uriOf(a) === uriOf(b)) return 0;
  return uriOf(a) < uriOf(b) ? -1 : 1;
}
