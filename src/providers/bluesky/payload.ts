import { z } from 'zod';
import { postUrl, profileUrl } from '../../model/addresses/urls.ts';
import { isPostId } from '../../model/reference.ts';
import { blueskyFacet } from '../../platforms/bluesky/facets.ts';
import {
  count,
  fullListOf,
  joinLists,
  lenient,
  listOf,
  parserOf,
  refuse,
  text,
  textOrNull,
  token,
  tokenOrNull,
  url,
  urlOrNull,
} from '../../platforms/lenient.ts';
import { maximums } from '../../platforms/maximums.ts';
import { isWebUrl } from '../../platforms/text.ts';
import { readTimeMs, timeOfTid, withCreatedMs } from '../../platforms/times.ts';

/** Parts of the `at://` URI of a record of the AT Protocol. */
export interface RecordAddress {
  readonly uri: string;
  readonly did: string;
  readonly collection: string;
  readonly rkey: string;
}

export const postCollection = 'app.bsky.feed.post';
const didForm = /^did:[a-z]+:[A-Za-z0-9._:%-]{1,2000}$/;
const uriForm = /^at:\/\/([^/?#]+)\/([A-Za-z0-9.-]+)\/([^/?#]+)$/;
export const did = z.string().regex(didForm);

/**
 * Parses the `at://` URI of a record of the AT Protocol. Returns `null` for anything else,
 * including a URI with a handle instead of a DID.
 */
export function parseRecordUri(uri: string): RecordAddress | null {
  const [, owner = '', collection = '', rkey = ''] = uriForm.exec(uri) ?? [];
  if (!didForm.test(owner) || !isPostId('bluesky', rkey)) return null;
  return { uri, did: owner, collection, rkey };
}

export const recordUri = url.transform(
  (uri, context) => parseRecordUri(uri) ?? refuse(context, 'This is not the URI of a record.'),
);

export const postUri = recordUri.refine(({ collection }) => collection === postCollection);

export const writePostUri = (account: string, rkey: string): string =>
  `at://${account}/${postCollection}/${rkey}`;

export const blueskyPostUrl = (account: string, rkey: string): string =>
  postUrl({ platform: 'bluesky', handle: account, id: rkey }, '');

export const blueskyProfileUrl = (account: string): string => profileUrl('bluesky', account, '');

// Responses of the AppView, Bluesky's API server (lexicons `app.bsky.actor.defs`, `app.bsky.feed.defs`). Members are
// required only if a post or account cannot be shown without them.

const label = z.object({ val: token, uri: urlOrNull, neg: lenient(z.boolean()), exp: tokenOrNull });
const labels = fullListOf(label, maximums.labels);
export type LabelPayload = z.output<typeof label>;

const actorPayload = z.object({
  did,
  handle: token,
  displayName: textOrNull,
  description: textOrNull,
  avatar: urlOrNull,
  banner: urlOrNull,
  website: urlOrNull,
  followersCount: count,
  followsCount: count,
  postsCount: count,
  createdAt: tokenOrNull,
  labels,
  verification: lenient(
    z.object({ verifiedStatus: tokenOrNull, trustedVerifierStatus: tokenOrNull }),
  ),
});
export type ActorPayload = z.output<typeof actorPayload>;

/** Schema of the labels that an author has set on a post. A value that is not an object becomes `null`. */
const selfLabels = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'object' && !Array.isArray(value) ? value : null))
  .pipe(z.object({ values: fullListOf(z.object({ val: token }), maximums.labels) }).nullable());

const record = z.object({
  text,
  createdAt: tokenOrNull,
  facets: listOf(blueskyFacet, maximums.facets),
  langs: listOf(token.min(1), maximums.languages),
  tags: listOf(token.min(1), maximums.tags),
  reply: lenient(z.object({ parent: z.object({ uri: recordUri }) })),
  labels: selfLabels,
});

const shared = {
  uri: postUri,
  author: actorPayload,
  indexedAt: tokenOrNull,
  labels,
  replyCount: count,
  repostCount: count,
  likeCount: count,
  quoteCount: count,
  bookmarkCount: count,
};

const postView = z
  .object({ ...shared, record, embed: z.unknown().optional() })
  .transform(({ embed, ...row }) => ({ ...row, embeds: [embed] as readonly unknown[] }))
  .transform(withTimes);

const quotedView = z
  .object({ ...shared, value: record, embeds: listOf(z.unknown(), maximums.languages) })
  .transform(({ value, ...row }) => ({ ...row, record: value }))
  .transform(withTimes);

function withTimes<
  Row extends {
    readonly uri: { readonly rkey: string };
    readonly record: { readonly createdAt: string | null };
    readonly indexedAt: string | null;
  },
>(row: Row, context: z.RefinementCtx) {
  const writtenMs = toMs(row.record.createdAt);
  const known = [writtenMs, toMs(row.indexedAt)].filter((ms) => ms !== null);
  const createdMs = known.length === 0 ? timeOfTid(row.uri.rkey) : Math.min(...known);
  return withCreatedMs({ ...row, writtenMs }, createdMs, context);
}

const toMs = (text: string | null): number | null => (text === null ? null : readTimeMs(text));

export type PostPayload = z.output<typeof postView>;

const isTrue = lenient(z.literal(true));

const missing = z
  .object({ uri: recordUri, notFound: isTrue, blocked: isTrue, detached: isTrue })
  .transform(({ uri, ...flags }, context) => {
    const is = (['notFound', 'blocked', 'detached'] as const).find((name) => flags[name]);
    return is === undefined ? refuse(context, 'This is not a placeholder.') : { uri, is };
  });

export type MissingPayload = z.output<typeof missing>;

const repostReason = 'app.bsky.feed.defs#reasonRepost';
const reason = z.object({ $type: tokenOrNull, by: lenient(actorPayload), indexedAt: tokenOrNull });

const feedRow = z
  .object({
    post: postView,
    reply: lenient(z.object({ parent: z.unknown() })),
    reason: reason.nullable().default(null),
  })
  .transform(({ reason: why, ...row }, context) => {
    if (why === null) return { ...row, repost: null, isPin: false };
    // A pinned post is at the top regardless of its time. Entries with an unknown reason are treated as pinned.
    if (why.$type !== repostReason) return { ...row, repost: null, isPin: true };
    if (why.by === null) return refuse(context, 'The account that reposted this is missing.');
    return { ...row, repost: { by: why.by, ms: toMs(why.indexedAt) }, isPin: false };
  });
export type FeedRow = z.output<typeof feedRow>;

const threadNode = z.object({
  post: postView,
  parent: z.unknown().optional(),
  replies: listOf(z.unknown(), maximums.rows),
});
export type ThreadNode = z.output<typeof threadNode>;

// These parsers return `null` for malformed values.
export const parseActor = parserOf(actorPayload);
export const parsePost = parserOf(postView);
export const parseQuoted = parserOf(quotedView);
/** Parses the placeholder of a missing post. Ignores `$type`, because some servers omit it or send another value. */
export const parseMissing = parserOf(missing);
export const parseFeedRow = parserOf(feedRow);
export const parseThreadNode = parserOf(threadNode);

// Embeds of posts. A `recordWithMedia` has an embed in `media` and a record within `record`.

const webUrl = url.refine(isWebUrl);
const aspectRatio = lenient(z.object({ width: z.number(), height: z.number() }));

/** Schema of the images of a post or a gallery, without their thumbnails. */
const pictures = listOf(
  z.object({ fullsize: webUrl, alt: textOrNull, aspectRatio }),
  maximums.media,
);

const readVideo = parserOf(
  z.object({
    playlist: webUrl,
    thumbnail: urlOrNull,
    alt: textOrNull,
    aspectRatio,
    presentation: tokenOrNull,
  }),
);

const embed = z.object({
  images: pictures,
  items: pictures,
  external: lenient(
    z.object({ uri: url, title: lenient(text), description: textOrNull, thumb: urlOrNull }),
  ),
  record: lenient(z.looseObject({})),
  media: z.unknown().optional(),
});

const readEmbed = parserOf(embed);

export type EmbedPayload = ReturnType<typeof parseEmbed>;

/** Parses an embed of a post (media, a link, or a record). Absent or malformed parts become `null` or empty. */
export function parseEmbed(value: unknown) {
  const outer = readEmbed(value);
  const { record, media } = outer ?? {};
  const hasMedia = typeof media === 'object' && media !== null;
  if (!hasMedia) return { ...toMedia(outer, value), record: record ?? undefined };
  return { ...toMedia(readEmbed(media), media), record: record?.record };
}

function toMedia(embed: ReturnType<typeof readEmbed>, value: unknown) {
  const { images = [], items = [], external = null } = embed ?? {};
  return { pictures: joinLists(images, items), video: embed && readVideo(value), external };
}

/** Parses an embedded record that is not a post: a feed, a list, a starter pack or a labeler. */
export const parseShown = parserOf(
  z.object({
    uri: recordUri,
    creator: actorPayload,
    labels,
    displayName: textOrNull,
    name: textOrNull,
    description: textOrNull,
    avatar: urlOrNull,
    record: lenient(z.object({ name: textOrNull, description: textOrNull })),
  }),
);
