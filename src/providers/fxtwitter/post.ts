import { mapInSlices, type Sliced } from '../../core/scheduling/slices.ts';
import type { Post, Status } from '../../model/post.ts';
import type { PostFound, PostQuery, RepliesQuery } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createThreadOrder } from '../conversation.ts';
import { listParts, orNull, tellThrottled, unreadParts } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { countSent, type Rows, tellUnread, uniqueById } from '../rows.ts';
import type { FxTwitterClient, PostAnswer } from './client.ts';
import type { PostPayload } from './payload.ts';
import { parentOf, shapePost, shapeStatus } from './shape.ts';

interface KnownThread {
  readonly line: ThreadLine;
  readonly missing: PostFound['missing'];
  readonly warnings: readonly string[];
}

interface Parts extends KnownThread {
  readonly focal: Status;
  readonly replies: readonly Post[];
}

const noLine: ThreadLine = { ancestors: [], continuation: [] };

/** Creates the read of a post, with its thread and replies where they are wanted. */
export function askPost(client: FxTwitterClient): Ask<'post'> {
  return async (query, context) => {
    const { focal, line, replies: rows, ...rest } = await readParts(client, query, context);
    const shown = dropRepeated(focal, line);
    const order = query.replies === 'recent' ? 'recent' : 'top';
    const replies = rankReplies(rows, { focalId: focal.id, order, shown });
    return { ...shown, post: focal, replies, ...rest };
  };
}

/** Keeps each post once: the one asked for, then the first of each id. */
function dropRepeated(focal: Status, line: ThreadLine): ThreadLine {
  const before = uniqueById<Post>([focal, ...line.ancestors]);
  const all = uniqueById([...before, ...line.continuation]);
  return { ancestors: before.slice(1), continuation: all.slice(before.length) };
}

async function readParts(client: FxTwitterClient, query: PostQuery, context: ProviderContext) {
  if (listParts(query).length === 0) return readAlone(client, query, context);
  try {
    return await readAround(client, query, context);
  } catch (error) {
    // The service asks X for the post alone in another way than for its surroundings, and one can fail
    // without the other.
    if (!isKind(error, 'malformed', 'ambiguous')) throw error;
    return readAlone(client, query, context).catch((second: unknown) => {
      if (isKind(second, 'missing')) throw second;
      tellThrottled(context, second);
      throw error;
    });
  }
}

function isKind(error: unknown, ...kinds: readonly ProviderError['kind'][]): boolean {
  return error instanceof ProviderError && kinds.includes(error.kind);
}

async function readAlone(client: FxTwitterClient, query: PostQuery, context: ProviderContext) {
  const { status } = await client.readStatus(query.post.id, context);
  const missing = listParts(query);
  const warnings = missing.map((part) => unreadParts[part]);
  return { focal: shapeStatus(status), line: noLine, replies: [], missing, warnings };
}

type Settled = PromiseSettledResult<PostAnswer> | null;

/** Asks for the thread and the replies at once. The thread decides, if it has a verdict. */
async function readAround(
  client: FxTwitterClient,
  { post, thread: wantsThread, replies }: PostQuery,
  context: ProviderContext,
): Promise<Parts> {
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const place = { order: replies === 'recent' ? replies : 'top', cursor: null } as const;
  try {
    const isAlone = replies === 'off';
    const ask = () => settle(client.readConversation(post.id, place, { ...context, signal }));
    const pending = isAlone ? null : ask();
    const thread = wantsThread ? await settle(client.readThread(post.id, context)) : null;
    if (thread?.status === 'rejected' && isVerdict(thread.reason)) throw thread.reason;
    return await combine(client, { thread, conversation: await pending }, context);
  } finally {
    stop.abort();
  }
}

/** Returns whether a failure says something of the post itself, or forbids to go on asking. */
function isVerdict(error: unknown): boolean {
  return !(error instanceof ProviderError) || isKind(error, 'missing', 'throttled');
}

/** Turns a rejection into a value, so that a call whose result is not needed is not unhandled. */
async function settle(call: Promise<PostAnswer>): Promise<Settled> {
  const [settled] = await Promise.allSettled([call]);
  return settled;
}

async function combine(
  client: FxTwitterClient,
  { thread, conversation }: { readonly thread: Settled; readonly conversation: Settled },
  context: ProviderContext,
): Promise<Parts> {
  const [above, around] = [thread, conversation].map((each) =>
    each?.status === 'fulfilled' ? each.value : undefined,
  );
  const failures = [thread, conversation].filter((each) => each?.status === 'rejected');
  const errors = failures.map(({ reason }): unknown => reason);
  for (const error of errors) tellThrottled(context, error);
  const answer = above ?? around;
  if (answer === undefined) throw errors.find((error) => isKind(error, 'missing')) ?? errors[0];
  const focal = shapeStatus(answer.status);
  const below =
    conversation === null ? nothingBelow : await shapeReplies(around?.replies ?? null, context);
  if (thread === null) return { focal, line: noLine, ...below };
  const known =
    (await toKnownThread(focal, { thread: above?.thread }, context)) ??
    (await toKnownThread(focal, { ...below, thread: around?.thread }, context)) ??
    (await walkParents(client, focal, context));
  const missing = [...known.missing, ...below.missing];
  const warnings = [...known.warnings, ...below.warnings];
  return { focal, line: known.line, replies: below.replies, missing, warnings };
}

type Below = Pick<Parts, 'replies' | 'missing' | 'warnings'>;

const nothingBelow: Below = { replies: [], missing: [], warnings: [] };

async function shapeReplies(rows: Rows<PostPayload> | null, sliced: Sliced): Promise<Below> {
  if (rows === null) return { replies: [], missing: ['replies'], warnings: [unreadParts.replies] };
  const replies = await mapInSlices(rows.rows, shapePost, sliced);
  return { replies, missing: [], warnings: tellUnread(rows, 'post') };
}

const fromReplies =
  'What the author added after this post was looked for among the replies and may be incomplete.';
const brokenWalk = 'The posts before this one could not all be read.';
const noContinuation = 'What the author added after this post could not be read.';

interface ThreadSource {
  readonly thread: Rows<PostPayload> | null | undefined;
  /** Of `/2/conversation`, which has the author's continuation in here. */
  readonly replies?: readonly Post[];
}

async function toKnownThread(
  focal: Status,
  { thread = null, replies }: ThreadSource,
  sliced: Sliced,
): Promise<KnownThread | null> {
  if (thread === null) return null;
  const line = splitThread(await mapInSlices(thread.rows, shapePost, sliced), focal.id);
  const warnings = tellUnread(thread, 'post');
  if (replies === undefined) return { line, missing: [], warnings };
  const continuation = pickContinuation(focal, replies);
  return { line: { ...line, continuation }, missing: [], warnings: [fromReplies, ...warnings] };
}

const maxParents = 20;

/** Reads the parents one by one until one fails. What follows the post stays unknown. */
async function walkParents(
  client: FxTwitterClient,
  focal: Status,
  context: ProviderContext,
): Promise<KnownThread> {
  const found: Post[] = [];
  const seen = new Set([focal.id]);
  let next = focal.replying_to?.status ?? null;
  while (next !== null && !seen.has(next) && found.length < maxParents) {
    seen.add(next);
    const row = await orNull(client.readRow(next, context), context);
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

export interface ThreadLine {
  readonly ancestors: readonly Post[];
  readonly continuation: readonly Post[];
}

/** Splits a thread, oldest first, at the post with the id `focalId`. */
export function splitThread(thread: readonly Post[], focalId: string): ThreadLine {
  const at = thread.findIndex(({ id }) => id === focalId);
  if (at >= 0) return { ancestors: thread.slice(0, at), continuation: thread.slice(at + 1) };
  // Ids of X rise with time, so they tell the sides where the thread leaves the post out.
  const isLater = ({ id }: Post) => id !== null && compareIds(id, focalId) > 0;
  return {
    ancestors: thread.filter((post) => !isLater(post)),
    continuation: thread.filter(isLater),
  };
}

const threadOrder = createThreadOrder<Status>({
  parentOf: ({ replying_to }) => replying_to?.status ?? null,
  authorOf: ({ author }) => author.id,
  likesOf: ({ likes }) => likes,
  byOldest: (a, b) => a.created_timestamp - b.created_timestamp || compareIds(a.id, b.id),
});

/** Returns the author's answers to themselves among `rows`: each the first to the one before it. */
export function pickContinuation(focal: Status, rows: readonly Post[]): readonly Status[] {
  const posts = rows.filter((row) => row.type === 'status');
  return threadOrder.pickContinuation(focal, posts);
}

interface ReplyRanking {
  readonly focalId: string;
  readonly order: 'top' | 'recent';
  readonly shown: ThreadLine;
}

/**
 * Returns the rows that are replies: each direct one in order, followed by the replies to it, oldest
 * first. X mixes in unrelated posts; rows that do not lead to the post or its continuation are left out.
 */
export function rankReplies(rows: readonly Post[], ranking: ReplyRanking): readonly Status[] {
  const { focalId, order, shown } = ranking;
  const answeredIds = [focalId, ...shown.continuation.map(({ id }) => id)];
  const before = new Set([...answeredIds, ...shown.ancestors.map(({ id }) => id)]);
  const replies = uniqueById(rows)
    .filter((row) => row.type === 'status')
    .filter(({ id }) => !before.has(id));
  return threadOrder.rankReplies(replies, { answeredIds, order });
}

/** Compares decimal ids without leading zeros, which exceed what a number holds. */
function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const noMore = 'X sends no more replies from here on. It does the same where it fails.';

/**
 * Creates the read of a page of replies. X sorts pages but not their rows, and names a next page below
 * the last reply too, with unrelated posts: a page without a reply ends the list.
 */
export function askReplies(client: FxTwitterClient): Ask<'replies'> {
  return async (query, context) => {
    const answer = await readPage(client, query, context);
    if (answer === null) return { items: [], cursor: null, warnings: [noMore] };
    const { status, thread, replies, cursor } = answer;
    if (replies === null) throw new ProviderError('unavailable', unreadParts.replies);
    const focal = shapeStatus(status);
    const before = await mapInSlices(thread?.rows ?? [], shapePost, context);
    const { ancestors } = splitThread(before, focal.id);
    const items = rankReplies(await mapInSlices(replies.rows, shapePost, context), {
      focalId: focal.id,
      order: query.order,
      shown: { ancestors, continuation: [] },
    });
    const rows = countSent(replies);
    return {
      items,
      cursor: items.length === 0 || cursor === query.cursor ? null : cursor,
      rows,
      answered: focal,
      warnings: [...tellUnread(replies, 'post'), ...(rows === 0 ? tellEmpty(focal, query) : [])],
    };
  };
}

/** X sends an empty page now and then in place of a fuller one, so it need not be the end. */
function tellEmpty({ replies }: Status, { cursor }: RepliesQuery): readonly string[] {
  if (cursor !== null) return [noMore];
  const count = replies ?? 0;
  if (count === 0) return [];
  const counted = count === 1 ? '1 reply' : `${count} replies`;
  return [`X counts ${counted} to this post, and sends none now.`];
}

/** Reads a page; `null` where a later one is missing, which says nothing of the post itself. */
async function readPage(
  client: FxTwitterClient,
  { post, order, cursor }: RepliesQuery,
  context: ProviderContext,
): Promise<PostAnswer | null> {
  try {
    return await client.readConversation(post.id, { order, cursor }, context);
  } catch (error) {
    const isEnd = error instanceof ProviderError && error.kind === 'ambiguous';
    if (cursor === null || !isEnd) throw error;
    return null;
  }
}
