import * as z from 'zod';
import {
  count,
  lenient,
  line,
  listOf,
  parserOf,
  text,
  textOrNull,
  token,
  tokenOrNull,
  url,
  urlOrNull,
} from '../../normalize/lenient.ts';
import { maximums } from '../../normalize/maximums.ts';
import { checkTimeMs, readTimeMs, refuseTime } from '../../normalize/times.ts';
import { timeOfXId, xHandle, xId } from '../../normalize/x.ts';
import { isBody } from '../upstream.ts';

// Posts and accounts of FxTwitter, including member names of version 1 of the API. Members are
// required only if a post cannot be shown without them.

const annotatedText = z.object({
  text,
  facets: listOf(
    z.object({
      type: token,
      indices: z.tuple([z.number().int().nonnegative(), z.number().int()]),
      original: textOrNull,
      replacement: urlOrNull,
    }),
    maximums.facets,
  ),
});

const rawText = annotatedText.extend({
  display_text_range: lenient(z.tuple([z.number().int().nonnegative(), z.number()])),
});

const userPayload = z
  .object({
    id: xId,
    screen_name: xHandle,
    name: textOrNull,
    description: textOrNull,
    raw_description: lenient(annotatedText),
    location: textOrNull,
    avatar_url: urlOrNull,
    banner_url: urlOrNull,
    website: lenient(z.object({ url, display_url: lenient(line) })),
    followers: count,
    following: count,
    statuses: count,
    tweets: count,
    media_count: count,
    likes: count,
    joined: tokenOrNull,
    protected: lenient(z.boolean()),
    verification: lenient(z.object({ verified: z.boolean(), type: tokenOrNull })),
  })
  .transform((user) => ({ ...user, statuses: user.statuses ?? user.tweets }));
export type UserPayload = z.output<typeof userPayload>;

const mediaPayload = z.object({
  type: z.enum(['photo', 'video', 'gif']),
  url,
  width: count,
  height: count,
  altText: textOrNull,
  thumbnail_url: urlOrNull,
  duration: count,
  formats: listOf(z.object({ url, container: tokenOrNull, bitrate: count }), maximums.variants),
  variants: listOf(z.object({ url, content_type: tokenOrNull, bitrate: count }), maximums.variants),
});

const mediaSetPayload = z.object({
  all: listOf(mediaPayload, maximums.media),
  external: lenient(z.object({ url, thumbnail_url: urlOrNull, width: count, height: count })),
});

const pollPayload = z.object({
  choices: listOf(z.object({ label: text, count, percentage: count }), maximums.choices),
  total_votes: count,
  ends_at: tokenOrNull,
});

const cardPayload = z.object({
  url,
  title: textOrNull,
  description: textOrNull,
  domain: tokenOrNull,
  image: lenient(z.object({ url: urlOrNull, alt: textOrNull })),
});

const communityPayload = z.object({ id: xId, name: text, description: textOrNull });

// Offsets in articles count Unicode code points, not UTF-16 code units, as recordings show.

const offset = z.number().int().nonnegative();

const key = z.union([token, z.number().transform(String)]);

const tags = listOf(z.object({ fromIndex: offset, toIndex: offset, text }), maximums.facets);

const blockPayload = z.object({
  type: token,
  text,
  data: lenient(z.object({ urls: tags, mentions: tags, hashtags: tags, cashtags: tags })),
  entityRanges: listOf(
    z.object({ key, offset: offset.catch(0), length: offset.catch(0) }),
    maximums.facets,
  ),
  inlineStyleRanges: listOf(z.object({ style: token, offset, length: offset }), maximums.facets),
});

const entityPayload = z.object({
  type: token,
  data: lenient(
    z.object({
      markdown: textOrNull,
      tweetId: lenient(xId),
      url: urlOrNull,
      mediaItems: listOf(z.object({ mediaId: key }), maximums.media),
    }),
  ),
});

const renditions = z.object({ url, content_type: tokenOrNull, bitrate: count, bit_rate: count });
const variants = listOf(renditions, maximums.variants);

const mediaInfo = z.object({
  original_img_url: urlOrNull,
  original_img_width: count,
  original_img_height: count,
  variants,
  video_info: lenient(z.object({ variants })),
});

/** Schema of a long-form article. `content` has no blocks if FxTwitter sent only the preview. */
export const articlePayload = z.object({
  id: tokenOrNull,
  title: text,
  preview_text: textOrNull,
  created_at: tokenOrNull,
  modified_at: tokenOrNull,
  cover_media: lenient(z.object({ media_info: z.object({ original_img_url: urlOrNull }) })),
  content: lenient(
    z.object({
      blocks: listOf(blockPayload, maximums.blocks),
      entityMap: listOf(z.object({ key, value: entityPayload }), maximums.blocks),
    }),
  ),
  media_entities: listOf(z.object({ media_id: key, media_info: mediaInfo }), maximums.blocks),
});

const replyingTo = z.union([
  z.object({ screen_name: tokenOrNull, status: lenient(xId) }),
  token.transform((screen_name) => ({ screen_name, status: null })),
]);

const statusPayload = z
  .object({
    type: z.literal('status').default('status'),
    id: xId,
    text,
    author: userPayload,
    created_at: tokenOrNull,
    created_timestamp: lenient(z.number()),
    lang: tokenOrNull,
    replies: count,
    reposts: count,
    retweets: count,
    likes: count,
    quotes: count,
    bookmarks: count,
    views: count,
    source: textOrNull,
    possibly_sensitive: lenient(z.boolean()),
    replying_to: lenient(replyingTo),
    replying_to_status: lenient(xId),
    raw_text: lenient(rawText),
    media: lenient(mediaSetPayload),
    quote: z.unknown().optional(),
    poll: lenient(pollPayload),
    card: lenient(cardPayload),
    community: lenient(communityPayload),
    article: lenient(articlePayload),
    community_note: lenient(annotatedText),
    reposted_by: lenient(userPayload),
  })
  .transform((row, context) => {
    const createdMs = readCreatedMs(row);
    if (createdMs === null) return refuseTime(context);
    const reposted_by = isTypedRepost(row) ? null : row.reposted_by;
    return { ...row, createdMs, reposts: row.reposts ?? row.retweets, reposted_by };
  });

interface Repost {
  readonly text: string;
  readonly author: UserPayload;
  readonly reposted_by: UserPayload | null;
}

const isTypedRepost = ({ text, author, reposted_by: by }: Repost): boolean =>
  by?.id === author.id && /^\s*RT:? @/i.test(text);

function readCreatedMs(row: {
  readonly id: string;
  readonly created_at: string | null;
  readonly created_timestamp: number | null;
}): number | null {
  const { id, created_at: at, created_timestamp: seconds } = row;
  const stamped = seconds === null ? null : checkTimeMs(Math.trunc(seconds) * 1000);
  return stamped ?? (at === null ? null : readTimeMs(at)) ?? timeOfXId(BigInt(id));
}
export type StatusPayload = z.output<typeof statusPayload>;

const tombstonePayload = z.object({
  type: z.literal('tombstone'),
  id: lenient(xId),
  reason: z
    .enum(['deleted', 'suspended', 'private', 'blocked', 'unavailable'])
    .catch('unavailable'),
  message: textOrNull,
  author: lenient(userPayload),
});
export type TombstonePayload = z.output<typeof tombstonePayload>;
export type PostPayload = StatusPayload | TombstonePayload;

const readTombstone = parserOf(tombstonePayload);
const readStatus = parserOf(statusPayload);

export const parsePost = (row: unknown): PostPayload | null =>
  isBody(row) && row.type === 'tombstone' ? readTombstone(row) : readStatus(row);

export const parseUser = parserOf(userPayload);
