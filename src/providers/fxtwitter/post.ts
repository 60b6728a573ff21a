import { HttpFailure } from '../../lib/http/http-client.ts';
import { mapWithPauses } from '../../lib/scheduling/map.ts';
import type { Post, Status } from '../../model/post.ts';
import type { PostFound, PostQuery, RepliesQuery } from '../../model/queries.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { readOrNull, reportThrottle, unreadParts, wantedParts } from '../failure.ts';
import type { Fetch, ProviderContext } from '../provider.ts';
import { countSent, createThreadOrder, describeUnread, type Rows, uniqueById } from '../rows.ts';
import type { FxTwitterClient, PostAnswer } from './client.ts';
import { parentOf, shapePost, shapeStatus } from './normalize.ts';
import type { PostPayload } from './wire.ts';

interface KnownThread {
  readonly line: ThreadLine;
  readonly missing: PostFound['missing'];
  readonly warnings: readonly string[];
}

interface Parts extends KnownThread {
  readonly focal: Status;
  readonly replies: readonly Post[];
}

const emptyLine: ThreadLine = { ancestors: [], continuation: [] };

export function fetchPost(client: FxTwitterClient): Fetch<'post'> {
  return async (query, context) => {
    const { focal, line, replies: rows, ...rest } = await readParts(client, query, context);
    const shown = dropRepeated(focal, line);
    const order = query.replies === 'recent' ? 'recent' : 'top';
    const replies = rankReplies(rows, { focalId: focal.id, order, shown });
    return { ...shown, post: focal, replies, ...rest };
  };
}

function dropRepeated(focal: Status, line: ThreadLine): ThreadLine {
  const before = uniqueById<Post>([focal, ...line.ancestors]);
  const all = uniqueById([...before, ...line.continuation]);
  return { ancestors: before.slice(1), continuation: all.slice(before.length) };
}

async function readParts(client: FxTwitterClient, query: PostQuery, context: ProviderContext) {
  if (wantedParts(query).length === 0) return readAlone(client, query, context);
  try {
    return await readAround(client, query, context);
  } catch (error) {
    // FxTwitter reads a post and its conversation from X in different ways, and each way can fail
    // separately.
    if (!isKind(error, 'malformed', 'ambiguous')) throw error;
    return readAlone(client, query, context).catch((second: unknown) => {
      if (isKind(second, 'missing')) throw second;
      reportThrottle(context, second);
      throw error;
    });
  }
}

const isKind = (error: unknown, ...kinds: readonly ProviderError['kind'][]): boolean =>
  error instanceof ProviderError && kinds.includes(error.kind);

async function readAlone(client: FxTwitterClient, query: PostQuery, context: ProviderContext) {
  const { status } = await client.readStatus(query.post.id, context);
  const missing = wantedParts(query);
  const warnings = missing.map((part) => unreadParts[part]);
  return { focal: shapeStatus(status), line: emptyLine, replies: [], missing, warnings };
}

type Settled = PromiseSettledResult<PostAnswer> | null;

/** Reads the conversation first, and the thread only if the conversation may lack some of it. */
async function readAround(
  client: FxTwitterClient,
  { post, thread: wantsThread, replies }: PostQuery,
  context: ProviderContext,
): Promise<Parts> {
  const place = { order: replies === 'recent' ? replies : 'top', cursor: null } as const;
  const conversation =
    replies === 'off' ? null : await settle(client.readConversation(post.id, place, context));
  const around = answerOf(conversation);
  const below = conversation === null ? noReplies : await shapeReplies(around?.replies ?? null);
  if (around !== undefined) {
    const focal = shapeStatus(around.status);
    if (!wantsThread) return { focal, line: emptyLine, ...below };
    const whole = await toWholeThread(focal, around, below);
    if (whole !== null) return { focal, ...joinParts(whole, below) };
  }
  const thread = wantsThread
    ? await settle(client.readThread(post.id, context), 'throttled')
    : null;
  return combine(client, { thread, conversation, below }, context);
}

/** Waits for one of two reads. Throws its error if the other read would not help. */
async function settle(
  read: Promise<PostAnswer>,
  ...conclusive: readonly ProviderError['kind'][]
): Promise<Settled> {
  const [settled] = await Promise.allSettled([read]);
  const { reason = null } = settled.status === 'rejected' ? settled : {};
  if (reason === null) return settled;
  // A host that could not be reached in time would not answer the other read in time either.
  const isLost = !(reason instanceof ProviderError) || reason.cause instanceof HttpFailure;
  if (isLost || isKind(reason, 'missing', ...conclusive)) throw reason;
  return settled;
}

const answerOf = (settled: Settled): PostAnswer | undefined =>
  settled?.status === 'fulfilled' ? settled.value : undefined;

const joinParts = ({ line, missing, warnings }: KnownThread, below: RepliesPart) => ({
  line,
  replies: below.replies,
  missing: [...missing, ...below.missing],
  warnings: [...warnings, ...below.warnings],
});

interface Answered {
  readonly thread: Settled;
  readonly conversation: Settled;
  readonly below: RepliesPart;
}

async function combine(
  client: FxTwitterClient,
  { thread, conversation, below }: Answered,
  context: ProviderContext,
): Promise<Parts> {
  const [above, around] = [answerOf(thread), answerOf(conversation)];
  const failures = [thread, conversation].filter((each) => each?.status === 'rejected');
  const errors = failures.map(({ reason }): unknown => reason);
  for (const error of errors) reportThrottle(context, error);
  const answer = above ?? around;
  if (answer === undefined) throw errors[0];
  const focal = shapeStatus(answer.status);
  const known =
    (await toKnownThread(focal, { thread: above?.thread })) ??
    (await toKnownThread(focal, { ...below, thread: around?.thread })) ??
    (await readParents(client, focal, context));
  return { focal, ...joinParts(known, below) };
}

type RepliesPart = Pick<Parts, 'replies' | 'missing' | 'warnings'>;
const noReplies: RepliesPart = { replies: [], missing: [], warnings: [] };

async function shapeReplies(rows: Rows<PostPayload> | null): Promise<RepliesPart> {
  if (rows === null) return { replies: [], missing: ['replies'], warnings: [unreadParts.replies] };
  const replies = await mapWithPauses(rows.rows, shapePost);
  return { replies, missing: [], warnings: describeUnread(rows, 'post') };
}

const fromReplies =
  'The rest of the author’s thread was taken from the replies and may be incomplete.';
const missingParents = 'Some of the posts before this one could not be read.';
const noContinuation = 'The rest of the author’s thread could not be read.';

interface ThreadSource {
  readonly thread: Rows<PostPayload> | null | undefined;
  /** Replies from `/2/conversation`, which include the author's later posts in the thread. */
  readonly replies?: readonly Post[];
}

async function toKnownThread(
  focal: Status,
  { thread = null, replies }: ThreadSource,
): Promise<KnownThread | null> {
  if (thread === null) return null;
  const line = splitThread(await mapWithPauses(thread.rows, shapePost), focal.id);
  const warnings = describeUnread(thread, 'post');
  if (replies === undefined) return { line, missing: [], warnings };
  const continuation = pickContinuation(focal, replies);
  return { line: { ...line, continuation }, missing: [], warnings: [fromReplies, ...warnings] };
}

/** Returns the thread in a conversation; `null` if `/2/thread` may have more of it. */
async function toWholeThread(
  focal: Status,
  { thread, cursor }: PostAnswer,
  { replies }: RepliesPart,
): Promise<KnownThread | null> {
  const at = thread?.rows.findIndex(({ id }) => id === focal.id) ?? -1;
  if (thread === null || at === -1) return null;
  const ancestors = await mapWithPauses(thread.rows.slice(0, at), shapePost);
  if (ancestors.length === 0 && focal.replying_to !== null) return null;
  const continuation = pickContinuation(focal, replies);
  if (!isWhole(continuation.at(-1) ?? focal, continuation, { replies, cursor })) return null;
  const warnings = describeUnread(thread, 'post');
  return { line: { ancestors, continuation }, missing: [], warnings };
}

/** Returns whether the author has no further posts after `last`, the end of the known thread. */
function isWhole(
  last: Status,
  continuation: readonly Status[],
  { replies, cursor }: { readonly replies: readonly Post[]; readonly cursor: string | null },
): boolean {
  const answers = replies.filter(
    (row) => row.type === 'status' && row.replying_to?.status === last.id,
  );
  if (last.replies !== null && answers.length >= last.replies) return true;
  // X sends the author's own thread before the other replies, but may send only its beginning.
  return continuation.length === 0 ? replies.length > 0 : cursor === null;
}

const maxParents = 20;

async function readParents(
  client: FxTwitterClient,
  focal: Status,
  context: ProviderContext,
): Promise<KnownThread> {
  const found: Post[] = [];
  const seen = new Set([focal.id]);
  let next = focal.replying_to?.status ?? null;
  while (next !== null && !seen.has(next) && found.length < maxParents) {
    seen.add(next);
    const row = await readOrNull(client.readRow(next, context), context);
    if (row === null) break;
    found.push(shapePost(row));
    if (row.type === 'tombstone') break; // a tombstone does not name its parent
    next = parentOf(row);
  }
  return {
    line: { ancestors: found.toReversed(), continuation: [] },
    missing: ['thread'],
    warnings: next === null ? [noContinuation] : [missingParents, noContinuation],
  };
}

/** Posts of a thread before and after the requested post. */
export interface ThreadLine {
  readonly ancestors: readonly Post[];
  readonly continuation: readonly Post[];
}

/** Splits a thread (oldest first) into the posts before and after the post `focalId`. */
export function splitThread(thread: readonly Post[], focalId: string): ThreadLine {
  const at = thread.findIndex(({ id }) => id === focalId);
  if (at >= 0) return { ancestors: thread.slice(0, at), continuation: thread.slice(at + 1) };
  // Ids on X increase with time, so they can be compared if the thread does not contain the post.
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

/** Returns the author's first reply to `focal`, the author's first reply to that, and so on. */
export function pickContinuation(focal: Status, rows: readonly Post[]): readonly Status[] {
  const posts = rows.filter((row) => row.type === 'status');
  return threadOrder.pickContinuation(focal, posts);
}

interface ReplyRanking {
  readonly focalId: string;
  readonly order: 'top' | 'recent';
  readonly shown: ThreadLine;
}

/** Returns the direct replies by `ranking.order`, each followed by its replies, oldest first. */
export function rankReplies(rows: readonly Post[], ranking: ReplyRanking): readonly Status[] {
  const { focalId, order, shown } = ranking;
  const answeredIds = [focalId, ...shown.continuation.map(({ id }) => id)];
  const before = new Set([...answeredIds, ...shown.ancestors.map(({ id }) => id)]);
  const replies = uniqueById(rows)
    .filter((row) => row.type === 'status')
    .filter(({ id }) => !before.has(id));
  return threadOrder.rankReplies(replies, { answeredIds, order });
}

/** Compares decimal ids, which are strings because they exceed `Number.MAX_SAFE_INTEGER`. */
function compareIds(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const noMore =
  'X sent no further replies. X sends the same response during an outage, so replies may be missing.';

/** Creates the replies reader. An empty page ends the list, although X may have more. */
export function fetchReplies(client: FxTwitterClient): Fetch<'replies'> {
  return async (query, context) => {
    const answer = await readPage(client, query, context);
    if (answer === null) return { items: [], cursor: null, warnings: [noMore] };
    const { status, thread, replies, cursor } = answer;
    if (replies === null) throw new ProviderError('unavailable', unreadParts.replies);
    const focal = shapeStatus(status);
    const before = await mapWithPauses(thread?.rows ?? [], shapePost);
    const { ancestors } = splitThread(before, focal.id);
    const items = rankReplies(await mapWithPauses(replies.rows, shapePost), {
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
      warnings: [
        ...describeUnread(replies, 'post'),
        ...(rows === 0 ? describeEmptyPage(focal, query) : []),
      ],
    };
  };
}

function describeEmptyPage({ replies }: Status, { cursor }: RepliesQuery): readonly string[] {
  if (cursor !== null) return [noMore];
  const count = replies ?? 0;
  if (count === 0) return [];
  const counted = count === 1 ? '1 reply' : `${count} replies`;
  return [`X counts ${counted} to this post, but sent none.`];
}

/** Reads a page of replies; `null` if a later page is not found. Throws if the first is not. */
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
