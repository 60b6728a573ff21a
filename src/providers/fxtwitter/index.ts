import type { Clock } from '../../core/clock.ts';
import { mapWithPauses } from '../../core/scheduling/map-with-pauses.ts';
import type { Post, Status } from '../../model/post.ts';
import type { PostFound, PostQuery, RepliesQuery } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createLiveProvider } from '../bounds.ts';
import { readOrNull, reportThrottle, unreadParts, wantedParts } from '../failure.ts';
import type { Ask, Provider, ProviderContext } from '../provider.ts';
import { countSent, createThreadOrder, describeUnread, type Rows, uniqueById } from '../rows.ts';
import { createUpstream, type UpstreamOptions } from '../upstream.ts';
import { createClient, type FxTwitterClient, type PostAnswer } from './client.ts';
import { askConnections, askSearch, askSearchUsers } from './lists/list.ts';
import { askTimeline } from './lists/timeline.ts';
import type { PostPayload } from './payload.ts';
import { createProfiles } from './profile.ts';
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

const emptyLine: ThreadLine = { ancestors: [], continuation: [] };

function askPost(client: FxTwitterClient): Ask<'post'> {
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
    const ask = () => toSettled(client.readConversation(post.id, place, { ...context, signal }));
    const pending = isAlone ? null : ask();
    const thread = wantsThread ? await toSettled(client.readThread(post.id, context)) : null;
    if (thread?.status === 'rejected' && isConclusive(thread.reason)) throw thread.reason;
    return await combine(client, { thread, conversation: await pending }, context);
  } finally {
    stop.abort();
  }
}

const isConclusive = (error: unknown): boolean =>
  !(error instanceof ProviderError) || isKind(error, 'missing', 'throttled');

async function toSettled(call: Promise<PostAnswer>): Promise<Settled> {
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
  for (const error of errors) reportThrottle(context, error);
  const answer = above ?? around;
  if (answer === undefined) throw errors.find((error) => isKind(error, 'missing')) ?? errors[0];
  const focal = shapeStatus(answer.status);
  const below = conversation === null ? noReplies : await shapeReplies(around?.replies ?? null);
  if (thread === null) return { focal, line: emptyLine, ...below };
  const known =
    (await toKnownThread(focal, { thread: above?.thread })) ??
    (await toKnownThread(focal, { ...below, thread: around?.thread })) ??
    (await readParents(client, focal, context));
  const missing = [...known.missing, ...below.missing];
  const warnings = [...known.warnings, ...below.warnings];
  return { focal, line: known.line, replies: below.replies, missing, warnings };
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

interface ThreadLine {
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

function askReplies(client: FxTwitterClient): Ask<'replies'> {
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

interface FxTwitterOptions extends UpstreamOptions {
  readonly clock: Clock;
}

export function createFxTwitter({ clock, ...options }: FxTwitterOptions): Provider {
  const upstream = createUpstream(options);
  const client = createClient(upstream);
  const profiles = createProfiles(upstream, clock);
  const connections = askConnections(upstream, profiles);
  return createLiveProvider('fxtwitter', 'x', {
    post: askPost(client),
    replies: askReplies(client),
    profile: async ({ account: { handle } }, context) => ({
      account: await profiles.read(handle, context),
      warnings: [],
    }),
    timeline: askTimeline({ upstream, profiles, clock }),
    followers: connections,
    following: connections,
    search: askSearch(upstream),
    searchUsers: askSearchUsers(upstream),
  });
}
