import type { Status, Tombstone } from '../../model/post.ts';
import { findQuote } from '../../normalize/activitypub/content.ts';
import {
  authorOf,
  hostOf,
  isObject,
  isPostType,
  type ObjectPayload,
  parseObject,
  referencedId,
  typeOf,
} from '../../normalize/activitypub/object.ts';
import { createdMsOf, type Surroundings, shapeObject } from '../../normalize/activitypub/shape.ts';
import { isPublic } from '../../normalize/activitypub/wire.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { toTombstone, toUnavailability } from '../../normalize/unavailable.ts';
import { toMissing } from '../failure.ts';
import type { ProviderContext } from '../provider.ts';
import type { Accounts } from './accounts.ts';
import { type Fetched, NotAnObject, type Objects } from './fetch-object.ts';
import { attempt } from './optional.ts';

/** Object of a post, with the account that shared it, if it was reached through a share. */
export interface ReadObject {
  readonly object: ObjectPayload;
  /** Id of the account that shared the post; `null` if it was not shared. */
  readonly sharer: string | null;
}

export type Posts = ReturnType<typeof createPosts>;

export function createPosts(objects: Objects, accounts: Accounts) {
  /** Reads a public post by the address of its object, or of an activity that publishes it. */
  const read = async (url: string, context: ProviderContext): Promise<ReadObject> =>
    unwrap(await objects.fetchObject(url, context), context);
  const unwrap = async (fetched: Fetched, context: ProviderContext): Promise<ReadObject> => {
    const { body } = fetched;
    const type = typeOf(body);
    if (type !== 'Create' && type !== 'Announce') {
      return { object: toObject(fetched), sharer: null };
    }
    const id = innermost(body);
    if (id === null) throw new NotAnObject(fetched.url, 'sent an activity without an object.');
    const inner = await objects.fetchObject(id, context);
    const sharer = type === 'Announce' ? referencedId(body.actor) : null;
    if (sharer !== null && hostOf(sharer) !== fetched.url.hostname) throw createForged(fetched);
    return { object: toObject(inner), sharer };
  };
  /** Converts a post; reads its author and the post that it quotes. */
  const shape = async (
    { object, sharer }: ReadObject,
    context: ProviderContext,
    around: Partial<Surroundings> = {},
  ): Promise<Status> => {
    const [author, quote, reposter] = await Promise.all([
      accounts.readAuthor(authorOf(object) ?? '', context),
      around.quote === undefined ? readQuote(object, context) : around.quote,
      sharer === null ? null : accounts.readAuthor(sharer, context),
    ]);
    return shapeObject(object, { reposter, ...around, author, quote });
  };
  const readQuote = async (object: ObjectPayload, context: ProviderContext) => {
    const id = referencedId(findQuote(object.note));
    if (id === null || id === object.id) return null;
    const quote = await attempt(context, async () => {
      const quoted = await read(id, context);
      const further = referencedId(findQuote(quoted.object.note));
      const inner = further === null ? null : toUnread(further);
      return shape({ ...quoted, sharer: null }, context, { quote: inner });
    });
    return quote instanceof ProviderError ? toUnread(id, quote) : quote;
  };
  return { read, shape };
}

/** Returns the id of a post within activities: a group shares the `Create` of a post. */
export function innermost(activity: Fetched['body']): string | null {
  let found: unknown = activity;
  for (let depth = 0; depth < maxDepth && isObject(found); depth += 1) {
    if (isPostType(typeOf(found)) || found.object === undefined) break;
    found = found.object;
  }
  return found === activity && !isPostType(typeOf(activity)) ? null : referencedId(found);
}

const maxDepth = 3;

/**
 * Parses a public post that its own host sent.
 * @throws ProviderError `missing` for deleted and non-public posts, `malformed` for forged ones
 */
export function toObject(fetched: Fetched): ObjectPayload {
  const { body, url } = fetched;
  if (typeOf(body) === 'Tombstone') throw toMissing('deleted');
  const object = parseObject(body);
  if (object === null || createdMsOf(object) === null) {
    throw new NotAnObject(url, 'publishes an object here that is no post.', body);
  }
  if (hostOf(object.id) !== url.hostname || authorOf(object) === null) throw createForged(fetched);
  if (!isPublic(object.note)) throw toMissing('protected');
  return object;
}

const createForged = ({ url }: Fetched): NotAnObject =>
  new NotAnObject(url, 'sent a post in the name of an account of another server.');

/** Returns the placeholder of a post that could not be read. */
export function toUnread(url: string, error?: ProviderError): Tombstone {
  const unread = toUnavailability('unknown', 'This post could not be read from its server.');
  return toTombstone(error?.unavailable ?? unread, { url, platform: 'activitypub' });
}
