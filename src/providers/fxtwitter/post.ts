import { HttpFailure } from '../../lib/http/http-client.ts';
import { mapWithPauses } from '../../lib/scheduling/map.ts';
import type { Post, Status } from '../../model/post.ts';
import type { PostFound, PostQuery, RepliesQuery } from '../../model/queries.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { readOrNull, reportThrottle, unreadParts, wantedParts } from '../failure.ts';
import type { Fetch, ProviderContext } from '../provider.ts';
import { countSent, createThreadOrder, describeUnread, uniqueById } from '../rows.ts';
import type { FxTwitterClient, PostAnswer } from './client.ts';
import { parentOf, shapePost, shapeStatus } from './normalize.ts';

/** Thread of a post, as far as it is known. */
interface KnownThread {
  readonly line: ThreadLine;
  readonly missing: PostFound['missing'];
  readonly warnings: readonly string[];
}

interface RepliesPart extends Omit<KnownThread, 'line'> {
  readonly replies: readonly Post[];
}

type Around = KnownThread & { readonly focal: Status };
type Parts = Around & RepliesPart;

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
  return { focal: shapeStatus(status), line: noThread.line, replies: [], missing, warnings };
}

/** Reads the conversation first, and the thread only if the conversation may lack some of it. */
async function readAround(
  client: FxTwitterClient,
  { post: { id }, thread: wantsThread, replies: order }: PostQuery,
  context: ProviderContext,
): Promise<Parts> {
  const { attempt, errors } = createAttempts();
  const around =
    order === 'off'
      ? null
      : await attempt(client.readConversation(id, { order, cursor: null }, context));
  const below = await shapeReplies(around, order);
  const near = await toNearThread(around, below, wantsThread);
  if (near?.isWhole) return join(near, below);
  const above = wantsThread ? await attempt(client.readThread(id, context), 'throttled') : null;
  for (const error of errors) reportThrottle(context, error);
  const answer = above ?? around;
  if (answer === null) throw errors.at(-1);
  const focal = shapeStatus(answer.status);
  const thread =
    (await toKnownThread(above)) ?? near ?? (await readParents(client, focal, context));
  return join({ ...thread, focal }, below);
}

/** Creates a function that collects the error of a read, unless another read would not help. */
function createAttempts() {
  const errors: unknown[] = [];
  const attempt = (read: Promise<PostAnswer>, ...conclusive: readonly ProviderError['kind'][]) =>
    read.catch((error: unknown) => {
      if (isLost(error) || isKind(error, 'missing', ...conclusive)) throw error;
      errors.push(error);
      return null;
    });
  return { attempt, errors };
}

/** Whether a host could not be reached in time, which would not answer another read either. */
const isLost = (error: unknown): boolean =>
  !(error instanceof ProviderError) || error.cause instanceof HttpFailure;

const join = ({ focal, line, missing, warnings }: Around, below: RepliesPart): Parts => ({
  focal,
  line,
  replies: below.replies,
  missing: [...missing, ...below.missing],
  warnings: [...warnings, ...below.warnings],
});

const noThread: KnownThread = {
  line: { ancestors: [], continuation: [] },
  missing: [],
  warnings: [],
};

async function shapeReplies(
  answer: PostAnswer | null,
  order: PostQuery['replies'],
): Promise<RepliesPart> {
  if (order === 'off') return { replies: [], missing: [], warnings: [] };
  const { replies: rows = null } = answer ?? {};
  if (rows === null) return { replies: [], missing: ['replies'], warnings: [unreadParts.replies] };
  const replies = await mapWithPauses(rows.rows, shapePost);
  return { replies, missing: [], warnings: describeUnread(rows, 'post') };
}

const fromReplies =
  'The rest of the author’s thread was taken from the replies and may be incomplete.';
const missingParents = 'Some of the posts before this one could not be read.';
const noContinuation = 'The rest of the author’s thread could not be read.';

async function toKnownThread(answer: PostAnswer | null): Promise<KnownThread | null> {
  if (answer === null || answer.thread === null) return null;
  const line = splitThread(await mapWithPauses(answer.thread.rows, shapePost), answer.status.id);
  return { line, missing: [], warnings: describeUnread(answer.thread, 'post') };
}

/** Returns the thread in a conversation. `isWhole`: `/2/thread` does not have more of it. */
async function toNearThread(
  answer: PostAnswer | null,
  { replies }: RepliesPart,
  wantsThread: PostQuery['thread'],
) {
  if (answer === null) return null;
  const focal = shapeStatus(answer.status);
  if (!wantsThread) return { ...noThread, focal, isWhole: true };
  const thread = await toKnownThread(answer);
  if (thread === null) return null;
  const { ancestors } = thread.line;
  const continuation = pickContinuation(focal, replies);
  const line = { ancestors, continuation };
  const isShown = answer.thread?.rows.some(({ id }) => id === focal.id) === true;
  const isAtStart = ancestors.length > 0 || focal.replying_to === null;
  const isEnd = isWhole(continuation.at(-1) ?? focal, continuation, { ...answer, replies });
  if (isShown && isAtStart && isEnd) return { ...thread, line, focal, isWhole: true };
  const warnings = [fromReplies, ...thread.warnings];
  return { ...thread, line, focal, warnings, isWhole: false };
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
