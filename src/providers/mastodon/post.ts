import type { RequestContext } from '../../lib/http/http-client.ts';
import { mapWithPauses } from '../../lib/scheduling/map.ts';
import type { Post } from '../../model/post.ts';
import type { PostFound, PostQuery } from '../../model/queries.ts';
import type { PostReference } from '../../model/reference.ts';
import { type Home, isFromHome, splitHandle } from '../../normalize/mastodon/identity.ts';
import { createSurroundings, hiddenReason, shapePost } from '../../normalize/mastodon/normalize.ts';
import {
  boostedIn,
  parseQuote,
  parseStatus,
  type StatusPayload,
} from '../../normalize/mastodon/wire.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { unavailabilityOf } from '../../normalize/unavailable.ts';
import { readOrNull, toMissing, unreadParts, wantedParts } from '../failure.ts';
import type { Fetch, ProviderContext } from '../provider.ts';
import {
  createThreadOrder,
  describeUnread,
  parseRows,
  toRepliesPage,
  uniqueById,
} from '../rows.ts';
import type { FetchFromHome } from './accounts.ts';
import { describeCopies } from './lists.ts';
import { createUnreadable, expectFound, type FetchFrom } from './servers.ts';

interface ReadPost {
  readonly query: PostQuery;
  readonly row: StatusPayload;
  readonly home: Home;
  /** Ancestors and replies, or the error of the failed read; `null` if not requested. */
  readonly around: Context | ProviderError | null;
}

interface Servers {
  readonly fetchFrom: FetchFrom;
  readonly fetchFromHome: FetchFromHome;
}

export function fetchPost(servers: Servers): Fetch<'post'> {
  return async (query, context) => {
    const read = await readPost(servers, query, context);
    return combine({ ...read, row: await withQuote(servers.fetchFromHome, read, context) });
  };
}

/** Creates the replies reader. A Mastodon server sends all replies in a single list. */
export function fetchReplies(servers: Servers): Fetch<'replies'> {
  return async ({ post, order }, context) => {
    const query = { kind: 'post', post, thread: false, replies: order } as const;
    const read = await readPost(servers, query, context);
    if (read.around instanceof ProviderError) throw read.around;
    return toRepliesPage(await combine(read));
  };
}

const readPost = (
  { fetchFrom, fetchFromHome }: Servers,
  query: PostQuery,
  context: ProviderContext,
): Promise<ReadPost> =>
  readByObject(fetchFrom, { post: query.post, context }, (id) =>
    readById(fetchFromHome, withId(query, id), context),
  );

async function readById(fetchFromHome: FetchFromHome, query: PostQuery, context: ProviderContext) {
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  try {
    const pending = readAround(fetchFromHome, query, { ...context, signal });
    pending.catch(() => {}); // prevents an unhandled rejection if the promise is never awaited
    const { home, body } = await get(fetchFromHome, query, { context });
    const row = parseStatus(body);
    if (row === null) throw createUnreadable();
    const reason = hiddenReason(row);
    if (reason !== null) throw toMissing(reason);
    const { id } = boostedIn(row) ?? query.post;
    const around =
      id === query.post.id ? pending : readAround(fetchFromHome, withId(query, id), context);
    return { query, row, home, around: await around };
  } finally {
    stop.abort();
  }
}

function withId(query: PostQuery, id: string): PostQuery {
  return { ...query, post: { ...query.post, id } };
}

async function get(
  fetchFromHome: FetchFromHome,
  { post }: PostQuery,
  { context, below = '' }: { readonly context: ProviderContext; readonly below?: string },
) {
  const path = `/api/v1/statuses/${encodeURIComponent(post.id)}${below}`;
  // On Mastodon, the handle of a reference is never null, because the handle contains the host.
  const { home, reply } = await fetchFromHome(post.handle ?? '', () => path, context);
  return { home, body: expectFound(reply, 'post').body };
}

async function readAround(
  fetchFromHome: FetchFromHome,
  query: PostQuery,
  context: ProviderContext,
) {
  if (wantedParts(query).length === 0) return null;
  try {
    const { body } = await get(fetchFromHome, query, { context, below: '/context' });
    return await readContext(body);
  } catch (error) {
    if (error instanceof ProviderError) return error;
    throw error;
  }
}

async function readContext(body: unknown): Promise<Context> {
  if (typeof body !== 'object' || body === null) throw createUnreadable();
  const { ancestors, descendants }: Partial<Record<keyof Context, unknown>> = body;
  if (!Array.isArray(ancestors)) throw createUnreadable();
  const above = await parseRows(ancestors.toReversed(), parseStatus);
  const below = await parseRows(descendants, parseStatus);
  if (above === null || below === null) throw createUnreadable();
  return {
    // Removes repeated posts, because the replies to a repeated post would be repeated too.
    ancestors: uniqueById(above.rows).toReversed(),
    descendants: uniqueById(below.rows),
    unreadable: above.unreadable + below.unreadable,
    excess: above.excess + below.excess,
  };
}

async function withQuote(
  fetchFromHome: FetchFromHome,
  { row, query }: ReadPost,
  context: ProviderContext,
) {
  const quoting = boostedIn(row) ?? row;
  const quote = parseQuote(quoting);
  const id = quote?.quoted_status_id ?? null;
  if (quote?.state !== 'accepted' || id === null || parseStatus(quote.quoted_status) !== null) {
    return row;
  }
  const found = await readOrNull(get(fetchFromHome, withId(query, id), { context }), context);
  const whole = { ...quoting, quote: { ...quote, quoted_status: found?.body ?? null } };
  return quoting === row ? whole : { ...row, reblog: whole };
}

async function combine({ query, row, home, around }: ReadPost): Promise<PostFound> {
  const isRead = around !== null && !(around instanceof ProviderError);
  const context = isRead ? around : noContext;
  const missing = around instanceof ProviderError ? wantedParts(query) : [];
  const shown = boostedIn(row) ?? row;
  const known = createSurroundings([shown, ...context.ancestors, ...context.descendants], home);
  const { ancestors, continuation, replies } = arrangeContext(shown, context, query);
  const shape = (rows: readonly StatusPayload[]) =>
    mapWithPauses(rows, (each) => shapePost(each, known));
  const found = {
    ancestors: await shape(ancestors),
    post: shapeRequested(row, known),
    continuation: await shape(continuation),
    replies: await shape(replies),
  };
  const copy = `This is a copy of the post on ${home.host}. Its counts and replies may be incomplete.`;
  const isOriginal = isFromHome(shown.account.acct, home);
  return {
    ...found,
    missing,
    warnings: [
      ...(isOriginal ? describeCopies(Object.values(found).flat(), home) : [copy]),
      ...describeLimitedAuthor(shown, home),
      ...(query.thread === 'whole' ? [onlyHere(home)] : []),
      ...(isRead ? describeCuts(shown, context, query) : []),
      ...describeUnread(context, 'post', 'server'),
      ...missing.map((part) => unreadParts[part]),
    ],
  };
}

const onlyHere = ({ host }: Home): string =>
  `The servers that took part in the thread could not be read. These are the posts that ${host} has.`;

const noContext: Context = { ancestors: [], descendants: [], unreadable: 0, excess: 0 };

function shapeRequested(row: StatusPayload, around: Parameters<typeof shapePost>[1]): Post {
  const post = shapePost(row, around);
  if (post.type === 'tombstone') throw toMissing(unavailabilityOf(post));
  return post;
}

function describeLimitedAuthor({ account }: StatusPayload, { host }: Home): readonly string[] {
  if (account.limited !== true) return [];
  return [`The moderators of ${host} limit the account that wrote this post.`];
}

interface Context {
  readonly ancestors: readonly StatusPayload[];
  readonly descendants: readonly StatusPayload[];
  /** Number of malformed posts that were omitted from the ancestors and descendants. */
  readonly unreadable: number;
  /** Number of ancestors and descendants omitted because there were more than the maximum. */
  readonly excess: number;
}

const byOldest = (a: StatusPayload, b: StatusPayload) => a.createdMs - b.createdMs;

const threadOrder = createThreadOrder<StatusPayload>({
  parentOf: ({ in_reply_to_id }) => in_reply_to_id,
  authorOf: ({ account }) => account.id,
  likesOf: ({ favourites_count }) => favourites_count,
  byOldest,
});

function arrangeContext(
  focal: StatusPayload,
  { ancestors, descendants }: Context,
  { thread, replies: order }: Pick<PostQuery, 'thread' | 'replies'>,
) {
  const above = ancestors.filter(({ id }) => id !== focal.id);
  const before = new Set([focal, ...above].map(({ id }) => id));
  const below = descendants.filter(({ id }) => !before.has(id));
  const continuation = thread ? threadOrder.pickContinuation(focal, below) : [];
  const shown = new Set([focal, ...continuation]);
  const rest = below.filter((row) => !shown.has(row));
  return {
    ancestors: thread ? above : [],
    continuation,
    replies: order === 'off' ? [] : rankReplies(rest, [...shown], order),
  };
}

function rankReplies(
  rows: readonly StatusPayload[],
  thread: readonly StatusPayload[],
  order: 'top' | 'recent',
): readonly StatusPayload[] {
  const ids = new Set([...rows, ...thread].map(({ id }) => id));
  const lost = rows.filter(({ in_reply_to_id: id }) => id === null || !ids.has(id));
  const answeredIds = thread.map(({ id }) => id);
  const others = lost.toSorted(byOldest);
  const found = new Set(threadOrder.rankReplies(rows, { answeredIds, order, others }));
  return [...found, ...rows.filter((row) => !found.has(row)).toSorted(byOldest)];
}

const [maxAncestors, maxDescendants] = [40, 60]; // maximums that servers send without a login

const maxHidden = 1; // posts that a server may count but not send, as in recorded long threads

const fewReplies = `Without a login, the server sends up to ${maxDescendants} replies; there may be more replies.`;
const fewAncestors = `Without a login, the server sends up to ${maxAncestors} earlier posts of a thread; there may be more earlier posts.`;
const lostParent =
  'The post that this thread replies to is missing: it is not public, or the server does not have it.';

function describeCuts(
  focal: StatusPayload,
  { ancestors, descendants }: Context,
  { thread }: Pick<PostQuery, 'thread'>,
): PostFound['warnings'] {
  const isFull = ancestors.length >= maxAncestors;
  const isLost = (ancestors[0] ?? focal).in_reply_to_id !== null;
  return [
    ...(thread && isLost ? [isFull ? fewAncestors : lostParent] : []),
    ...(descendants.length >= maxDescendants - maxHidden ? [fewReplies] : []),
  ];
}

const objectId = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

const noticePath = /^\/notice\/([\w-]{1,64})$/;

async function readByObject<Found>(
  fetchFrom: FetchFrom,
  { post, context }: { readonly post: PostReference; readonly context: RequestContext },
  read: (id: string) => Promise<Found>,
): Promise<Found> {
  try {
    return await read(post.id);
  } catch (error) {
    const isMissing = error instanceof ProviderError && error.kind === 'missing';
    const id = isMissing ? await findNotice(fetchFrom, post, context) : undefined;
    if (id === undefined) throw error;
    return read(id);
  }
}

async function findNotice(
  fetchFrom: FetchFrom,
  { handle, id }: PostReference,
  context: RequestContext,
): Promise<string | undefined> {
  if (!objectId.test(id)) return undefined;
  const { domain } = splitHandle(handle ?? '');
  const page = { ...context, accept: 'text/html', maxRedirects: 0 };
  const reply = await fetchFrom(domain, `/objects/${id}`, page);
  const path = reply.is === 'no api' ? reply.location?.pathname : undefined;
  return noticePath.exec(path ?? '')?.[1];
}
