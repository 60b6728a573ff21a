import { mapInSlices, type Sliced } from '../../core/scheduling/slices.ts';
import type { Post } from '../../model/post.ts';
import type { PostFound, PostQuery } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { toMissing } from '../failure.ts';
import type { Ask, ProviderContext } from '../provider.ts';
import { parseRows, toRepliesPage } from '../rows.ts';
import { createSuspended, createUnreadable, toAbsence } from './failure.ts';
import type { HomeReply, Homes } from './homes.ts';
import { type Home, isAtHome } from './identity.ts';
import { parseQuote, parseStatus, type StatusPayload } from './payload.ts';
import { tellCopies, tellUnread, uniqueById } from './rows.ts';
import type { FoundReply } from './servers.ts';
import { hiddenReason, shapePost, surround } from './shape.ts';
import { arrangeContext, type Context, tellCuts } from './thread.ts';

/** A post at its server, before it is shaped. */
interface ReadStatus {
  /** As it was asked for; a boost has what it boosts in `reblog`. */
  readonly row: StatusPayload;
  readonly home: Home;
}

/** What could be read around a post: null where nothing was wanted. */
type Around =
  | { readonly is: 'read'; readonly context: Context }
  | { readonly is: 'failed'; readonly failure: ProviderError }
  | null;

/** Makes the read of a post, with its thread and replies where they are wanted. */
export function askPost(homes: Homes): Ask<'post'> {
  return async (query, context) => {
    const { read, around } = await readPost(homes, query, context);
    const row = await withQuote(homes, { ...read, query }, context);
    return combine({ ...read, row }, { around, query }, context);
  };
}

/** Creates the read of the replies to a post, which a server sends as one list. */
export function askReplies(homes: Homes): Ask<'replies'> {
  return async ({ post, order }, context) => {
    const query = { kind: 'post', post, thread: false, replies: order } as const;
    const { read, around } = await readPost(homes, query, context);
    if (around?.is === 'failed') throw around.failure;
    return toRepliesPage(await combine(read, { around, query }, context));
  };
}

interface ReadPost {
  readonly read: ReadStatus;
  readonly around: Around;
}

/** Reads a post and what stands around it at the same time. */
async function readPost(
  homes: Homes,
  query: PostQuery,
  context: ProviderContext,
): Promise<ReadPost> {
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  try {
    const id = query.post.id;
    const pending = readAround(homes, query, { ...context, signal });
    pending.catch(() => {}); // a defect is told where it is awaited, which may never be
    const read = await readStatus(homes, query, context);
    const boosted = boostedIn(read.row);
    const around =
      boosted === null || boosted.id === id
        ? await pending
        : await readAround(homes, withId(query, boosted.id), context);
    return { read, around };
  } finally {
    stop.abort();
  }
}

function withId(query: PostQuery, id: string): PostQuery {
  return { ...query, post: { ...query.post, id } };
}

function statusPath({ post }: Pick<PostQuery, 'post'>): string {
  return `/api/v1/statuses/${encodeURIComponent(post.id)}`;
}

/** On Mastodon the handle of a reference is never null: it names the host. */
function handleOf({ post }: PostQuery): string {
  return post.handle ?? '';
}

async function readStatus(
  homes: Homes,
  query: PostQuery,
  context: ProviderContext,
): Promise<ReadStatus> {
  const path = statusPath(query);
  const { home, reply } = await homes.ask(handleOf(query), () => path, context);
  const row = parseStatus(expectFound(reply).body);
  if (row === null) throw createUnreadable();
  const reason = hiddenReason(row);
  if (reason !== null) throw toMissing(reason);
  return { row, home };
}

function expectFound(reply: HomeReply['reply']): FoundReply {
  switch (reply.is) {
    case 'found':
      return reply;
    case 'absent':
      throw toAbsence('post');
    case 'suspended':
      throw createSuspended();
  }
}

function boostedIn({ reblog }: StatusPayload): StatusPayload | null {
  return reblog === undefined || reblog === null ? null : parseStatus(reblog);
}

/** Any failure of the surroundings leaves the post itself. Never rejects but for a defect. */
async function readAround(
  homes: Homes,
  query: PostQuery,
  context: ProviderContext,
): Promise<Around> {
  if (!query.thread && query.replies === 'off') return null;
  try {
    const path = `${statusPath(query)}/context`;
    const { reply } = await homes.ask(handleOf(query), () => path, context);
    return { is: 'read', context: await readContext(expectFound(reply), context) };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { is: 'failed', failure: error };
  }
}

async function readContext({ body }: FoundReply, sliced: Sliced): Promise<Context> {
  if (typeof body !== 'object' || body === null) throw createUnreadable();
  const { ancestors, descendants }: Partial<Record<keyof Context, unknown>> = body;
  if (!Array.isArray(ancestors)) throw createUnreadable();
  const above = await parseRows(ancestors.toReversed(), parseStatus, sliced);
  const below = await parseRows(descendants, parseStatus, sliced);
  if (above === null || below === null) throw createUnreadable();
  return {
    // Each post once: what answers one that came twice would itself come twice, and so on.
    ancestors: uniqueById(above.rows).toReversed(),
    descendants: uniqueById(below.rows),
    unreadable: above.unreadable + below.unreadable,
    beyond: above.beyond + below.beyond,
  };
}

interface Quoting extends ReadStatus {
  readonly query: PostQuery;
}

/** Reads a quote of which the server has told the id alone. Without it the post is worth as much. */
async function withQuote(
  homes: Homes,
  { row, query }: Quoting,
  context: ProviderContext,
): Promise<StatusPayload> {
  const quoting = boostedIn(row) ?? row;
  const quote = parseQuote(quoting);
  const id = quote?.quoted_status_id ?? null;
  if (quote?.state !== 'accepted' || id === null || parseStatus(quote.quoted_status) !== null) {
    return row;
  }
  const quoted_status = await readQuoted(homes, withId(query, id), context);
  const whole = { ...quoting, quote: { ...quote, quoted_status } };
  return quoting === row ? whole : { ...row, reblog: whole };
}

async function readQuoted(
  homes: Homes,
  query: PostQuery,
  context: ProviderContext,
): Promise<unknown> {
  try {
    const path = statusPath(query);
    const { reply } = await homes.ask(handleOf(query), () => path, context);
    return expectFound(reply).body;
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return null;
  }
}

const noThread = 'The rest of the thread could not be read.';
const noReplies = 'The replies could not be read.';

interface Asked {
  readonly around: Around;
  readonly query: PostQuery;
}

async function combine(
  { row, home }: ReadStatus,
  { around, query }: Asked,
  sliced: Sliced,
): Promise<PostFound> {
  const shown = boostedIn(row) ?? row;
  const copied = isAtHome(shown.account.acct, home) ? [] : [tellCopy(home)];
  if (around?.is !== 'read') {
    const missing = around === null ? [] : listMissing(query);
    const warnings = missing.map((part) => (part === 'thread' ? noThread : noReplies));
    const post = shapeAsked(row, surround([shown], home));
    const nothing = { ancestors: [], continuation: [], replies: [] };
    const copies = copied.length > 0 ? copied : tellCopies([post], home);
    return {
      ...nothing,
      post,
      missing,
      warnings: [...copies, ...tellLimited(shown, home), ...warnings],
    };
  }
  const { context } = around;
  const known = surround([shown, ...context.ancestors, ...context.descendants], home);
  const { ancestors, continuation, replies } = arrangeContext(shown, context, query);
  const shape = (rows: readonly StatusPayload[]) =>
    mapInSlices(rows, (each) => shapePost(each, known), sliced);
  const found = {
    ancestors: await shape(ancestors),
    post: shapeAsked(row, known),
    continuation: await shape(continuation),
    replies: await shape(replies),
  };
  return {
    ...found,
    missing: [],
    warnings: [
      ...(copied.length > 0 ? copied : tellCopies(Object.values(found).flat(), home)),
      ...tellLimited(shown, home),
      ...tellCuts(shown, context, query),
      ...tellUnread(context, 'post'),
    ],
  };
}

function shapeAsked(row: StatusPayload, around: Parameters<typeof shapePost>[1]): Post {
  const post = shapePost(row, around);
  if (post.type === 'tombstone') throw toMissing(post.reason);
  return post;
}

function listMissing({ thread, replies }: PostQuery): PostFound['missing'] {
  return [
    ...(thread ? (['thread'] as const) : []),
    ...(replies === 'off' ? [] : (['replies'] as const)),
  ];
}

function tellLimited({ account }: StatusPayload, { host }: Home): readonly string[] {
  return account.limited === true
    ? [`The moderators of ${host} limit the account that wrote this post.`]
    : [];
}

function tellCopy({ host }: Home): string {
  return `This is the copy of this post that ${host} has; its counts and replies may be incomplete.`;
}
