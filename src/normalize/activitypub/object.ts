import * as z from 'zod';
import { parseUrl } from '../../lib/http/url.ts';
import { isPostId } from '../../model/reference.ts';
import { count, lenient, parserOf, textOrNull, token, tokenOrNull, url } from '../lenient.ts';
import { maximums } from '../maximums.ts';
import { idOf, idOrNull, manyOf, note, toValues } from './wire.ts';

type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const typeOf = ({ type }: Json): string => {
  const named = toValues(type).find((each) => typeof each === 'string');
  return typeof named === 'string' ? named : '';
};

const postTypes = /^(?:Note|Article|Page|Question|Video|Audio|Image|Event)$/;
const actorTypes = /^(?:Person|Service|Application|Group|Organization)$/;

export const isPostType = (type: string): boolean => postTypes.test(type);
export const isActorType = (type: string): boolean => actorTypes.test(type);

/** Returns an id in the form in which URLs are compared; `null` if it is not a public https URL. */
export function toObjectId(id: unknown): string | null {
  const parsed = typeof id === 'string' ? parseUrl(id) : null;
  return parsed !== null && isPostId('activitypub', parsed.href) ? parsed.href : null;
}

export const referencedId = (value: unknown): string | null =>
  toObjectId(idOf.safeParse(toValues(value)[0]).data);

export const hostOf = (id: string): string => parseUrl(id)?.hostname ?? '';

const reference = z.union([
  url.transform((id) => ({ id, type: null })),
  z.object({ id: url, type: tokenOrNull }),
]);

const sizes = { width: count, height: count };

const file = z.object({ href: url, mediaType: tokenOrNull, ...sizes, size: count });

/** Returns whether a file is a picture, a video or a recording. */
export const isPlayable = (contentType: string | null): boolean =>
  /^(?:image|video|audio)\/|mpegurl$/i.test(contentType ?? '');

const playable = file.refine(({ mediaType }) => isPlayable(mediaType));

const links = manyOf(
  z.union([
    url.transform((href) => ({ href, mediaType: null, width: null, height: null, files: [] })),
    // PeerTube lists the files of a stream as tags of its link.
    file.extend({ tag: manyOf(playable, maximums.variants) }).transform(({ tag, ...rest }) => ({
      ...rest,
      files: tag,
    })),
  ]),
  maximums.variants,
);

/** Pictures, such as `icon`: the URL of the widest one, or `null`. */
export const picture = manyOf(
  z.union([
    url.transform((href) => ({ href, width: null })),
    z
      .object({ url: links, width: count })
      .transform(({ url: [first], width }) => ({ href: first?.href ?? null, width })),
  ]),
  maximums.variants,
).transform((all) => {
  const [widest] = all.toSorted((a, b) => (b.width ?? 0) - (a.width ?? 0));
  return widest?.href ?? null;
});

/** Collection that an object names or contains, with its number of items if it says this. */
const collection = z.transform((value: unknown) => ({
  id: referencedId(value),
  inline: isObject(value) ? value : null,
  total: count.parse(isObject(value) ? value.totalItems : value),
}));

const label = z.transform((value: unknown) =>
  textOrNull.parse(isObject(value) ? value.name : value),
);

const more = z.object({
  attributedTo: manyOf(reference, maximums.fields),
  audience: idOrNull,
  replies: collection,
  likes: collection,
  shares: collection,
  url: links,
  icon: picture,
  image: picture,
  duration: tokenOrNull,
  views: count,
  licence: label,
  license: label,
  language: lenient(z.object({ identifier: token })),
  startTime: tokenOrNull,
  location: label,
});

const readNote = parserOf(note);
const readMore = parserOf(more);

export type ObjectPayload = NonNullable<ReturnType<typeof parseObject>>;

/**
 * Parses the object of a post, read as compacted JSON-LD without its context, which is never
 * fetched. Returns `null` for other objects.
 */
export function parseObject(body: Json) {
  const type = typeOf(body);
  const id = toObjectId(body.id);
  if (id === null || !isPostType(type)) return null;
  const attachment = toValues(body.attachment).map((item) =>
    isObject(item) && item.url === undefined ? { ...item, url: item.href } : item,
  );
  const [inReplyTo] = toValues(body.inReplyTo);
  const own = readNote({ ...body, id, type, attachment, inReplyTo });
  // PeerTube has comments in place of replies.
  const rest = readMore({ ...body, replies: body.replies ?? body.comments });
  return own === null || rest === null ? null : { ...rest, id, type, note: own };
}

/** Returns the author, who must be on the server of the object; `null` if there is none. */
export function authorOf({ id, attributedTo }: Pick<ObjectPayload, 'id' | 'attributedTo'>) {
  const host = hostOf(id);
  const own = attributedTo.filter((each) => hostOf(each.id) === host);
  // On PeerTube, a video is by an account and in a channel, which is a group.
  const author = own.find(({ type }) => type !== 'Group') ?? own[0];
  return author === undefined ? null : toObjectId(author.id);
}
