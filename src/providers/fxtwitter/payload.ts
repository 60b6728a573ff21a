import { z } from 'zod';
import {
  address,
  count,
  eachOf,
  lenient,
  line,
  readerOf,
  term,
  text,
  token,
  url,
  words,
} from '../../platforms/lenient.ts';
import { maximums } from '../../platforms/maximums.ts';
import { checkTimeMs, readTimeMs, withCreatedMs } from '../../platforms/times.ts';
import { xHandle, xId } from '../../platforms/x.ts';

// Posts and accounts of the service, including member names of version 1 of its API. Only members that a post
// cannot be shown without are required.

const userPayload = z
  .object({
    id: xId,
    screen_name: xHandle,
    name: words,
    description: words,
    location: words,
    avatar_url: address,
    banner_url: address,
    website: lenient(z.object({ url, display_url: lenient(line) })),
    followers: count,
    following: count,
    statuses: count,
    tweets: count,
    media_count: count,
    likes: count,
    joined: term,
    protected: lenient(z.boolean()),
    verification: lenient(z.object({ verified: z.boolean(), type: term })),
  })
  .transform(({ tweets, ...user }) => ({ ...user, statuses: user.statuses ?? tweets }));
export type UserPayload = z.output<typeof userPayload>;

const rawText = z.object({
  text,
  display_text_range: lenient(z.tuple([z.number().int().nonnegative(), z.number()])),
  facets: eachOf(
    z.object({
      type: token,
      indices: z.tuple([z.number().int().nonnegative(), z.number().int()]),
      original: words,
      replacement: address,
    }),
    maximums.facets,
  ),
});

const mediaPayload = z.object({
  type: z.enum(['photo', 'video', 'gif']),
  url,
  width: count,
  height: count,
  altText: words,
  thumbnail_url: address,
  duration: count,
  formats: eachOf(z.object({ url, container: term, bitrate: count }), maximums.variants),
  variants: eachOf(z.object({ url, content_type: term, bitrate: count }), maximums.variants),
});

const mediaSetPayload = z.object({
  all: eachOf(mediaPayload, maximums.media),
  external: lenient(z.object({ url, thumbnail_url: address, width: count, height: count })),
});

const pollPayload = z.object({
  choices: eachOf(z.object({ label: text, count, percentage: count }), maximums.choices),
  total_votes: count,
  ends_at: term,
});

const cardPayload = z.object({
  url,
  title: words,
  description: words,
  domain: term,
  image: lenient(z.object({ url: address, alt: words })),
});

const communityPayload = z.object({ id: xId, name: text, description: words });

// Offsets in articles count Unicode code points: in a recorded article, the ranges after an emoji match code points,
// not UTF-16 code units.

const offset = z.number().int().nonnegative();

/** Key of an entity or a media item in an article: a number, or a text of digits. */
const key = z.union([token, z.number().transform(String)]);

const tags = eachOf(z.object({ fromIndex: offset, toIndex: offset, text }), maximums.facets);

const blockPayload = z.object({
  type: token,
  text,
  data: lenient(z.object({ urls: tags, mentions: tags, hashtags: tags, cashtags: tags })),
  entityRanges: eachOf(
    z.object({ key, offset: offset.catch(0), length: offset.catch(0) }),
    maximums.facets,
  ),
  inlineStyleRanges: eachOf(z.object({ style: token, offset, length: offset }), maximums.facets),
});

const entityPayload = z.object({
  type: token,
  data: lenient(
    z.object({
      markdown: words,
      tweetId: lenient(xId),
      url: address,
      mediaItems: eachOf(z.object({ mediaId: key }), maximums.media),
    }),
  ),
});

const renditions = z.object({ url, content_type: term, bitrate: count, bit_rate: count });
const variants = eachOf(renditions, maximums.variants);

const mediaInfo = z.object({
  original_img_url: address,
  original_img_width: count,
  original_img_height: count,
  variants,
  video_info: lenient(z.object({ variants })),
});

/** Long-form article. `content` has no blocks if only the beginning was sent. */
export const articlePayload = z.object({
  id: term,
  title: text,
  preview_text: words,
  created_at: term,
  modified_at: term,
  cover_media: lenient(z.object({ media_info: z.object({ original_img_url: address }) })),
  content: lenient(
    z.object({
      blocks: eachOf(blockPayload, maximums.blocks),
      entityMap: eachOf(z.object({ key, value: entityPayload }), maximums.blocks),
    }),
  ),
  media_entities: eachOf(z.object({ media_id: key, media_info: mediaInfo }), maximums.blocks),
});

const replyingTo = z.union([
  token.transform((screen_name) => ({ screen_name, status: null })),
  z.object({ screen_name: term, status: lenient(xId) }),
]);

const statusPayload = z
  .object({
    type: z.literal('status').default('status'),
    id: xId,
    text,
    author: userPayload,
    created_at: term,
    created_timestamp: count,
    lang: term,
    replies: count,
    reposts: count,
    retweets: count,
    likes: count,
    quotes: count,
    bookmarks: count,
    views: count,
    source: words,
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
    community_note: lenient(z.object({ text: words })),
    reposted_by: lenient(userPayload),
  })
  .transform(({ retweets, ...row }) => ({ ...row, reposts: row.reposts ?? retweets }))
  .transform((row, context) =>
    withCreatedMs(row, readCreatedMs(row.created_at, row.created_timestamp), context),
  );

function readCreatedMs(at: string | null, seconds: number | null): number | null {
  const stamped = seconds === null ? null : checkTimeMs(Math.trunc(seconds) * 1000);
  return stamped ?? (at === null ? null : readTimeMs(at));
}
export type StatusPayload = z.output<typeof statusPayload>;

const tombstonePayload = z.object({
  type: z.literal('tombstone'),
  id: lenient(xId),
  reason: z
    .enum(['deleted', 'suspended', 'private', 'blocked', 'unavailable'])
    .catch('unavailable'),
  author: lenient(userPayload),
});
export type TombstonePayload = z.output<typeof tombstonePayload>;
export type PostPayload = StatusPayload | TombstonePayload;

const readTombstone = readerOf(tombstonePayload);
const readStatus = readerOf(statusPayload);

export function parsePost(row: unknown): PostPayload | null {
  return readTombstone(row) ?? readStatus(row);
}

export const parseUser = readerOf(userPayload);
