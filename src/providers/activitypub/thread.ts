import { Problem, quoteInput } from '../../lib/problem.ts';
import { withDeadline } from '../../lib/scheduling/deadline.ts';
import { mapConcurrently } from '../../lib/scheduling/map.ts';
import type { Status } from '../../model/post.ts';
import type { PostFound, PostQuery } from '../../model/queries.ts';
import type { PostReference } from '../../model/reference.ts';
import { handleOfActor, parseActor } from '../../normalize/activitypub/actor.ts';
import { authorOf, type ObjectPayload, referencedId } from '../../normalize/activitypub/object.ts';
import { createdMsOf } from '../../normalize/activitypub/shape.ts';
import { splitHandle } from '../../normalize/mastodon/identity.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { unreadParts, wantedParts } from '../failure.ts';
import { toHostFailure } from '../hosts.ts';
import type { Fetch, ProviderContext } from '../provider.ts';
import { createThreadOrder, toRepliesPage } from '../rows.ts';
import type { Conversations } from './conversation.ts';
import { NotAnObject, type Objects } from './fetch-object.ts';
import { maxConcurrent, type Sources } from './lists.ts';
import { readOrNull } from './optional.ts';
import type { ReadObject } from './posts.ts';

export interface ThreadSources extends Sources {
  readonly conversations: Conversations;
}

export function fetchPost(sources: ThreadSources): Fetch<'post'> {
  return async (query, context) => {
    const focal = await readFocal(sources, query.post, context).catch((error: unknown) => {
      sources.conversations.forget(query.post.id); // it may be deleted
      throw error;
    });
    return withDeadline(sources.partMs, [context.signal], async (signal) => {
      const found = await combine(sources, [query, focal], { ...context, signal });
      context.signal.throwIfAborted();
      return found;
    });
  };
}

/** Creates the replies reader, for the replies that the server of a post lists. */
export function fetchReplies(sources: ThreadSources): Fetch<'replies'> {
  const ask = fetchPost(sources);
  return async ({ post, order }, context) => {
    const found = await ask({ kind: 'post', post, thread: false, replies: order }, context);
    if (found.missing.length === 0) return toRepliesPage(found);
    throw toHostFailure('unavailable', unreadParts.replies);
  };
}

/** Addresses of a post's object by the handle and id of Mastodon's API, on software without it. */
function listAddresses({ platform, handle, id }: PostReference): readonly string[] {
  if (platform === 'activitypub') return [id];
  const { user, domain } = splitHandle(handle ?? '');
  const name = encodeURIComponent(user);
  const paths =
    user === '_' // the placeholder in references from URLs without a name
      ? [`notes/${id}`, `objects/${id}`]
      : [`users/${name}/statuses/${id}`, `p/${name}/${id}`, `@${name}/${id}`];
  return paths.map((path) => `https://${domain}/${path}`);
}

async function readFocal({ posts }: Sources, post: PostReference, context: ProviderContext) {
  const addresses = listAddresses(post);
  for (const [at, address] of addresses.entries()) {
    try {
      return await posts.read(address, context);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (at + 1 === addresses.length || !isElsewhere(error)) throw explain(error, post, address);
    }
  }
  throw new Error('A post has an address.');
}

const isElsewhere = (error: ProviderError): boolean =>
  error instanceof NotAnObject || (error.kind === 'missing' && error.unavailable === undefined);

/** Returns the error of a post that could not be read, for the caller who named it. */
function explain(error: ProviderError, post: PostReference, address: string): Error {
  if (post.platform === 'activitypub') return refuseActor(error, address) ?? error;
  const isGuess = error.kind === 'missing' && isElsewhere(error);
  if (!isGuess || post.handle?.startsWith('_@')) return error;
  // Other software may have the post at another address.
  return new ProviderError('ambiguous', error.message, { isEvidence: false });
}

function refuseActor(cause: ProviderError, address: string): Problem | null {
  const actor = cause instanceof NotAnObject ? parseActor(cause.body) : null;
  if (actor === null) return null;
  const handle = handleOfActor(actor);
  return new Problem('invalid_path', {
    detail: `The URL ${quoteInput(address)} is not that of a post, but of the account @${handle}.`,
    resolution: `Request the profile of @${handle} instead.`,
    cause,
  });
}

interface Row {
  readonly id: string;
  readonly read: ReadObject;
}

const toRow = (read: ReadObject): Row => ({ id: read.object.id, read });
const createdMs = ({ read }: Row): number => createdMsOf(read.object) ?? 0;

const threadOrder = createThreadOrder<Row>({
  parentOf: ({ read }) => referencedId(read.object.note.inReplyTo),
  authorOf: ({ read }) => authorOf(read.object) ?? '',
  likesOf: ({ read }) => read.object.likes.total,
  byOldest: (a, b) => createdMs(a) - createdMs(b),
});

async function combine(
  sources: ThreadSources,
  [query, focal]: readonly [PostQuery, ReadObject],
  context: ProviderContext,
): Promise<PostFound> {
  const { object } = focal;
  const [around, post] = await Promise.all([
    sources.conversations.read(focal, query, context),
    sources.posts.shape(focal, context),
  ]);
  const counts = await readCounts(sources.objects, object, context);
  const rows = around.replies.map(toRow);
  const continuation = query.thread ? threadOrder.pickContinuation(toRow(focal), rows) : [];
  const shape = (each: readonly ReadObject[]) =>
    mapConcurrently(each, maxConcurrent, (row) => sources.posts.shape(row, context));
  const parts = {
    ancestors: await shape(around.ancestors),
    post: { ...post, ...counts, replies: around.total ?? post.replies },
    continuation: await shape(continuation.map(({ read }) => read)),
    replies: await shape(rankReplies(rows, continuation, { query, object })),
  };
  const missing = around.isRead ? [] : wantedParts(query);
  const warnings = [...around.warnings, ...missing.map((part) => unreadParts[part])];
  return { ...nameAnswered(parts), missing, warnings };
}

function rankReplies(
  rows: readonly Row[],
  continuation: readonly Row[],
  { query: { replies: order }, object }: { query: PostQuery; object: ObjectPayload },
): readonly ReadObject[] {
  if (order === 'off') return [];
  const shown = new Set(continuation);
  const answeredIds = [object.id, ...continuation.map(({ id }) => id)];
  const rest = rows.filter((row) => !shown.has(row));
  return threadOrder.rankReplies(rest, { answeredIds, order }).map(({ read }) => read);
}

/** Reads the counts that a post names by the address of a collection, as PeerTube does. */
async function readCounts({ fetchPart }: Objects, object: ObjectPayload, context: ProviderContext) {
  const count = async ({ id, total }: ObjectPayload['likes']) => {
    const read =
      total !== null || id === null
        ? null
        : await readOrNull(context, () => fetchPart(id, context));
    const counted = read?.body.totalItems;
    return typeof counted === 'number' && counted >= 0 ? counted : total;
  };
  const [likes, reposts] = await Promise.all([count(object.likes), count(object.shares)]);
  return { likes, reposts };
}

type Parts = Record<'ancestors' | 'continuation' | 'replies', readonly Status[]> & { post: Status };

/** Adds the handles of the authors of replied-to posts that are in the same answer. */
function nameAnswered({ ancestors, post, continuation, replies }: Parts) {
  const all = [...ancestors, post, ...continuation, ...replies];
  const handles = new Map(all.map(({ id, author }) => [id, author.screen_name]));
  const name = (each: Status): Status => {
    const { replying_to: target } = each;
    const screen_name = handles.get(target?.status ?? '') ?? target?.screen_name ?? null;
    return target === null ? each : { ...each, replying_to: { ...target, screen_name } };
  };
  return {
    ancestors: ancestors.map(name),
    post: name(post),
    continuation: continuation.map(name),
    replies: replies.map(name),
  };
}
