import { Problem, quoteInput } from '../../lib/problem.ts';
import { withDeadline } from '../../lib/scheduling/deadline.ts';
import { mapConcurrently } from '../../lib/scheduling/map-concurrently.ts';
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
import type { Ask, ProviderContext } from '../provider.ts';
import { createThreadOrder, describeOmitted, toRepliesPage, uniqueBy } from '../rows.ts';
import { NotAnObject, type Objects } from './fetch-object.ts';
import { maxConcurrent, readRow, type Sources } from './lists.ts';
import { readOrNull } from './optional.ts';
import type { ReadObject } from './posts.ts';
import type { WholeThreads } from './whole-thread.ts';

export interface ThreadSources extends Sources {
  readonly whole: WholeThreads;
}

export function askPost(sources: ThreadSources): Ask<'post'> {
  return async (query, context) => {
    const focal = await readFocal(sources, query.post, context).catch((error: unknown) => {
      sources.whole.forget(query.post.id); // it may be deleted
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
export function askReplies(sources: ThreadSources): Ask<'replies'> {
  const ask = askPost(sources);
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

const maxAncestors = 20;

/** Reads the posts above a post, oldest first, each from its own server. */
async function readAncestors({ posts }: Sources, focal: ObjectPayload, context: ProviderContext) {
  const rows: ReadObject[] = [];
  const seen = new Set([focal.id]);
  let next = referencedId(focal.note.inReplyTo);
  while (next !== null && !seen.has(next) && rows.length < maxAncestors) {
    const id = next;
    const found = await readOrNull(context, () => posts.read(id, context));
    if (found === null || seen.has(found.object.id)) break;
    seen.add(found.object.id);
    rows.unshift({ ...found, sharer: null });
    next = referencedId(found.object.note.inReplyTo);
  }
  return { rows, isCut: (rows[0]?.object ?? focal).note.inReplyTo !== null };
}

const [maxReplies, maxParts, maxContinued] = [40, 3, 10];

/** Reads the direct replies that the server of a post lists, each from its own server. */
async function readReplies(
  { posts, readPart }: Sources,
  object: ObjectPayload,
  context: ProviderContext,
) {
  const { id, inline } = object.replies;
  const collection = id ?? (inline === null ? null : { url: new URL(object.id), body: inline });
  const found: ReadObject[] = [];
  let [unread, listed, total] = [0, 0, object.replies.total];
  let cursor: string | null = null;
  for (let part = 0; collection !== null && part < maxParts && listed < maxReplies; part += 1) {
    const page = await readPart(collection, { cursor, count: maxReplies - listed }, context);
    const read = await mapConcurrently(page.rows, maxConcurrent, (row) =>
      readOrNull(context, () => readRow(posts, { row, part: page }, context)),
    );
    const answers = read.filter((each) => each !== null);
    found.push(...answers.filter((each) => referencedId(each.object.note.inReplyTo) === object.id));
    unread += read.length - answers.length;
    listed += page.rows.length;
    total ??= page.total;
    cursor = page.next;
    if (cursor === null) break;
  }
  return { found, unread, total, isCut: cursor !== null, isListed: collection !== null };
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

/** Reads the replies to a post, and those to the later posts of its author's thread. */
async function readBelow(sources: Sources, focal: ObjectPayload, context: ProviderContext) {
  const first = await readReplies(sources, focal, context);
  const start = toRow({ object: focal, sharer: null });
  let rows: readonly Row[] = first.found.map(toRow);
  let continuation = threadOrder.pickContinuation(start, rows);
  for (let step = 0; step < maxContinued; step += 1) {
    const last = continuation[step]?.read.object;
    if (last === undefined) break;
    const more = await readOrNull(context, () => readReplies(sources, last, context));
    rows = uniqueBy([...rows, ...(more?.found ?? []).map(toRow)], ({ id }) => id);
    rows = rows.filter(({ id }) => id !== focal.id);
    continuation = threadOrder.pickContinuation(start, rows);
  }
  return { ...first, rows, continuation };
}

async function readAround(
  sources: Sources,
  [query, focal]: readonly [PostQuery, ReadObject],
  context: ProviderContext,
) {
  const { object } = focal;
  const isBelowWanted = wantedParts(query).length > 0;
  const [above, below] = await Promise.all([
    query.thread ? readAncestors(sources, object, context) : { rows: [], isCut: false },
    isBelowWanted ? readOrNull(context, () => readBelow(sources, object, context)) : null,
  ]);
  return { above, below, warnings: [] };
}

/** Reads the whole thread. Its one warning names what is missing. */
async function readWhole({ whole }: ThreadSources, focal: ReadObject, context: ProviderContext) {
  const { ancestors, replies, warnings } = await whole.read(focal, context);
  const rows = replies.map(toRow);
  const continuation = threadOrder.pickContinuation(toRow(focal), rows);
  const { total } = focal.object.replies;
  const below = { rows, continuation, total, unread: 0, isCut: false, isListed: true };
  return { above: { rows: ancestors, isCut: false }, below, warnings };
}

async function combine(
  sources: ThreadSources,
  [query, focal]: readonly [PostQuery, ReadObject],
  context: ProviderContext,
): Promise<PostFound> {
  const { object } = focal;
  const isBelowWanted = wantedParts(query).length > 0;
  const [{ above, below, warnings }, post] = await Promise.all([
    query.thread === 'whole'
      ? readWhole(sources, focal, context)
      : readAround(sources, [query, focal], context),
    sources.posts.shape(focal, context),
  ]);
  const counts = await readCounts(sources.objects, object, context);
  const continuation = query.thread ? (below?.continuation ?? []) : [];
  const shape = (rows: readonly ReadObject[]) =>
    mapConcurrently(rows, maxConcurrent, (row) => sources.posts.shape(row, context));
  const parts = {
    ancestors: await shape(above.rows),
    post: { ...post, ...counts, replies: below?.total ?? post.replies },
    continuation: await shape(continuation.map(({ read }) => read)),
    replies: await shape(rankReplies(below?.rows ?? [], continuation, { query, object })),
  };
  const missing = isBelowWanted && below === null ? wantedParts(query) : [];
  return {
    ...nameAnswered(parts),
    missing,
    warnings: [
      ...warnings,
      ...(above.isCut ? [lostParent] : []),
      ...(below === null ? [] : describeReplies(below, query)),
      ...missing.map((part) => unreadParts[part]),
    ],
  };
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

const lostParent =
  'Earlier posts of this thread are missing: they are not public, or their servers did not send them.';

function describeReplies(
  {
    unread,
    isCut,
    isListed,
  }: Pick<Awaited<ReturnType<typeof readReplies>>, 'unread' | 'isCut' | 'isListed'>,
  { replies }: PostQuery,
): readonly string[] {
  if (replies === 'off') return [];
  if (!isListed) return ['The server of this post does not list the replies to it.'];
  return [
    ...describeOmitted(unread, 'reply', [
      'it is not public, or its server did not send it',
      'they are not public, or their servers did not send them',
    ]),
    ...(isCut ? [`These are the first ${maxReplies} direct replies; there are more.`] : []),
  ];
}
