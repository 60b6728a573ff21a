import { withDeadline } from '../../lib/scheduling/deadline.ts';
import { mapConcurrently } from '../../lib/scheduling/map.ts';
import type { Account } from '../../model/account.ts';
import type { Status } from '../../model/post.ts';
import type { ConnectionsQuery, Page, TimelineQuery } from '../../model/queries.ts';
import type { ActorPayload } from '../../normalize/activitypub/actor.ts';
import {
  hostOf,
  isObject,
  isPostType,
  type ObjectPayload,
  referencedId,
  typeOf,
} from '../../normalize/activitypub/object.ts';
import { createdMsOf } from '../../normalize/activitypub/shape.ts';
import { isPublic, toValues } from '../../normalize/activitypub/wire.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { readTimeMs } from '../../normalize/times.ts';
import { toHostFailure } from '../hosts.ts';
import type { Fetch, ProviderContext } from '../provider.ts';
import { describeOmitted, uniqueBy } from '../rows.ts';
import type { Accounts } from './accounts.ts';
import type { Part, ReadPart } from './collections.ts';
import { type Fetched, NotAnObject, type Objects } from './fetch-object.ts';
import { attempt } from './optional.ts';
import { innermost, type Posts, type ReadObject, toObject } from './posts.ts';

/** Readers of one provider. */
export interface Sources {
  readonly objects: Objects;
  readonly accounts: Accounts;
  readonly posts: Posts;
  readonly readPart: ReadPart;
  /** Milliseconds for the requests to other servers that a part of a list needs. */
  readonly partMs: number;
}

export const maxConcurrent = 6;

/** Creates the function that reads an account's posts and shares, from its outbox. */
export function fetchTimeline(sources: Sources): Fetch<'timeline'> {
  return async (query, context) => {
    const { actor, handle } = await sources.accounts.locate(query.account.handle, context);
    const part = await sources.readPart(listOf(actor, 'outbox', handle), query, context);
    const wanted = part.rows.filter((row) => isWanted(row, query, actor));
    const read = await withDeadline(sources.partMs, [context.signal], (signal) =>
      mapConcurrently(wanted, maxConcurrent, (row) =>
        readEntry(sources, { row, part, actor }, { ...context, signal }),
      ),
    );
    context.signal.throwIfAborted();
    const listed = read.filter((each) => each !== null && 'post' in each);
    const items = listed.filter((each) => isListed(each, query)).map(({ post }) => post);
    const failed = read.filter((each) => each instanceof ProviderError);
    return {
      items: uniqueBy(items, ({ id, reposted_by }) => `${id} ${reposted_by?.id ?? ''}`),
      cursor: part.next,
      rows: part.rows.length,
      warnings: describeOmitted(failed.length, 'post', [
        'it is not public, or its server did not send it',
        'they are not public, or their servers did not send them',
      ]),
    };
  };
}

function listOf(actor: ActorPayload, name: 'followers' | 'following' | 'outbox', handle: string) {
  const id = referencedId(actor[name]);
  if (id !== null && hostOf(id) === hostOf(actor.id)) return id;
  const noun = name === 'outbox' ? 'posts' : name;
  throw toHostFailure('unavailable', `The server of @${handle} publishes no list of ${noun}.`);
}

function isWanted(row: unknown, query: TimelineQuery, { id }: ActorPayload): boolean {
  if (!isObject(row)) return true;
  const type = typeOf(row);
  if (type === 'Announce') return query.withReposts && referencedId(row.actor) === id;
  if (type !== 'Create' && !isPostType(type)) return false;
  const object = isObject(row.object) ? row.object : row;
  const answered = referencedId(object.inReplyTo);
  return query.withReplies || answered === null || answered.startsWith(`${id}/`);
}

interface Entry {
  readonly row: unknown;
  readonly part: Part;
  readonly actor: ActorPayload;
}

interface Listed {
  readonly post: Status;
  /** Unix milliseconds of the post, or of its share. */
  readonly listedMs: number;
}

const isListed = ({ post, listedMs }: Listed, { onlyMedia, untilSeconds }: TimelineQuery) =>
  (untilSeconds === null || listedMs < untilSeconds * 1000) &&
  (onlyMedia !== true || post.media.all.length > 0);

/** Reads an entry of an outbox. Returns `null` for one that is not the account's own. */
async function readEntry({ posts }: Sources, entry: Entry, context: ProviderContext) {
  const { row, actor } = entry;
  const isShare = isObject(row) && typeOf(row) === 'Announce';
  if (isShare && !isPublic({ to: toValues(row.to), cc: toValues(row.cc) })) return null;
  return attempt(context, async (): Promise<Listed | null> => {
    const found = await readRow(posts, entry, context);
    const sharer = isShare ? actor.id : found.sharer;
    if (sharer === null ? !isBy(actor, found.object) : sharer !== actor.id) return null;
    const listedMs = (isShare ? timeOf(row) : null) ?? createdMsOf(found.object) ?? 0;
    return { post: await posts.shape({ ...found, sharer }, context), listedMs };
  });
}

/** Whether a post is by an account, or was published in the community that a group is. */
function isBy({ id, type }: ActorPayload, { note, attributedTo, audience }: ObjectPayload) {
  const named = attributedTo.map((each) => each.id);
  const groups = type === 'Group' ? [audience, ...note.to, ...note.cc] : [];
  return [...named, ...groups].includes(id);
}

const timeOf = ({ published }: Fetched['body']): number | null =>
  typeof published === 'string' ? readTimeMs(published) : null;

/**
 * Reads the post of a row in a collection. A post is believed as it is in the collection only if it
 * is on the host of the collection; otherwise it is fetched from its own.
 */
export async function readRow(
  posts: Posts,
  { row, part }: Pick<Entry, 'row' | 'part'>,
  context: ProviderContext,
): Promise<ReadObject> {
  const activity = isObject(row) ? row : {};
  const object = isObject(activity.object) ? activity.object : activity;
  const isOwn = typeOf(activity) !== 'Announce' && hostOf(String(object.id)) === part.url.hostname;
  if (isOwn && isPostType(typeOf(object))) {
    const { to, cc } = activity;
    return { object: toObject({ url: part.url, body: { to, cc, ...object } }), sharer: null };
  }
  const id = isObject(row) ? innermost(row) : referencedId(row);
  if (id === null) throw new NotAnObject(part.url, 'lists a post without a public address.');
  return posts.read(id, context);
}

/** Creates the function that reads the followers or followed accounts, from their own servers. */
export function fetchConnections(sources: Sources) {
  return async (query: ConnectionsQuery, context: ProviderContext): Promise<Page<Account>> => {
    const { accounts, readPart, partMs } = sources;
    const { kind } = query;
    const { actor, handle } = await accounts.locate(query.account.handle, context);
    const part = await readPart(listOf(actor, kind, handle), query, context);
    const ids = part.rows.map(referencedId).filter((id) => id !== null);
    const read = await withDeadline(partMs, [context.signal], (signal) =>
      mapConcurrently(ids, maxConcurrent, (id) => {
        const request = { ...context, signal };
        return attempt(request, () => accounts.readAccount(id, request));
      }),
    );
    context.signal.throwIfAborted();
    const items = read.filter((each) => 'screen_name' in each);
    const isHidden = query.cursor === null && part.rows.length === 0 && part.total !== 0;
    return {
      items: uniqueBy(items, ({ id }) => id),
      cursor: part.next,
      rows: part.rows.length,
      warnings: [
        ...(isHidden ? ['The server of this account does not show this list.'] : []),
        ...describeOmitted(part.rows.length - items.length, 'account', [
          'its server did not send it',
          'their servers did not send them',
        ]),
      ],
    };
  };
}
