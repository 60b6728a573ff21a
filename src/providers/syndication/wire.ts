import * as z from 'zod';
import {
  count,
  lenient,
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
import { decodeEntities } from '../../normalize/text.ts';
import { readTimeMs, withCreatedMs } from '../../normalize/times.ts';
import { timeOfXId, xHandle, xId } from '../../normalize/x.ts';

// Responses of `tweet-result`. Members are required only if a post cannot be shown without them.

const indices = z.tuple([z.number().int().nonnegative(), z.number().int()]);
const tags = listOf(z.object({ indices, text: token.min(1) }), maximums.facets);

const entitiesPayload = z.object({
  hashtags: tags,
  symbols: tags,
  user_mentions: listOf(z.object({ indices, screen_name: token.min(1) }), maximums.facets),
  urls: listOf(z.object({ indices, url, expanded_url: url }), maximums.facets),
  media: listOf(z.object({ indices, url }), maximums.media),
});

const userPayload = z.object({
  id_str: xId,
  name: textOrNull,
  screen_name: xHandle,
  profile_image_url_https: urlOrNull,
  verified: lenient(z.boolean()),
  is_blue_verified: lenient(z.boolean()),
  verified_type: tokenOrNull,
});

const mediaPayload = z.object({
  type: z.enum(['photo', 'video', 'animated_gif']),
  media_url_https: url,
  ext_alt_text: textOrNull,
  original_info: lenient(z.object({ width: count, height: count })),
  video_info: lenient(
    z.object({
      duration_millis: count,
      variants: listOf(
        z.object({ url, content_type: tokenOrNull, bitrate: count }),
        maximums.variants,
      ),
    }),
  ),
  indices: lenient(indices),
  url: urlOrNull,
});

const stringValue = z.object({ string_value: textOrNull });
const textValue = lenient(
  stringValue.transform(({ string_value }) => string_value && decodeEntities(string_value)),
);

const pictureValue = z.object({ image_value: z.object({ url, alt: textOrNull }) });
const imageValue = lenient(pictureValue.transform(({ image_value }) => image_value));

const cardPayload = z.object({
  name: tokenOrNull,
  url: urlOrNull,
  binding_values: z.object({
    title: textValue,
    description: textValue,
    domain: textValue,
    vanity_url: textValue,
    card_url: textValue,
    photo_image_full_size_large: imageValue,
    summary_photo_image_large: imageValue,
    player_image_large: imageValue,
    thumbnail_image_large: imageValue,
    thumbnail_image: imageValue,
    choice1_label: textValue,
    choice1_count: textValue,
    choice2_label: textValue,
    choice2_count: textValue,
    choice3_label: textValue,
    choice3_count: textValue,
    choice4_label: textValue,
    choice4_count: textValue,
    end_datetime_utc: textValue,
  }),
});

const articlePayload = z.object({
  rest_id: tokenOrNull,
  title: text,
  preview_text: textOrNull,
  cover_media: lenient(z.object({ media_info: z.object({ original_img_url: urlOrNull }) })),
});

const postPayload = z
  .object({
    id_str: xId,
    text,
    created_at: tokenOrNull,
    lang: tokenOrNull,
    entities: lenient(entitiesPayload),
    user: userPayload,
    favorite_count: count,
    reply_count: count,
    retweet_count: count,
    mediaDetails: listOf(mediaPayload, maximums.media),
    quoted_tweet: z.unknown().optional(),
    parent: z.unknown().optional(),
    in_reply_to_screen_name: tokenOrNull,
    in_reply_to_status_id_str: lenient(xId),
    note_tweet: lenient(z.object({})),
    article: lenient(articlePayload),
    card: lenient(cardPayload),
    possibly_sensitive: lenient(z.boolean()),
  })
  .transform((row, context) =>
    withCreatedMs(row, readTimeMs(row.created_at ?? '') ?? timeOfXId(BigInt(row.id_str)), context),
  );
export type PostPayload = z.output<typeof postPayload>;

export const parsePost = parserOf(postPayload);

/** Parses whether a response has a post or tombstone; only the absence of `user` matters. */
export const parseAnswer = parserOf(
  z.object({
    __typename: tokenOrNull,
    user: z.unknown().optional(),
    tombstone: lenient(z.object({ text: z.object({ text }) })),
  }),
);
