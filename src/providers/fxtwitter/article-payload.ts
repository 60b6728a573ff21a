import { z } from 'zod';
import {
  address,
  count,
  eachOf,
  lenient,
  term,
  text,
  token,
  url,
  words,
} from '../../platforms/lenient.ts';
import { maximums } from '../../platforms/maximums.ts';
import { xId } from '../../platforms/x.ts';

// A long-form article (FxTwitter, section 4.4). Offsets count Unicode code points: all inline styles
// and URLs of the recorded article that stand after an emoji fit code points and not UTF-16 units.

const offset = z.number().int().nonnegative();

/** What one part of an article refers to another by: a number, or a text of digits. */
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

/** One block of an article. */
export type BlockPayload = z.output<typeof blockPayload>;

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

/** What a range of a block stands for. */
export type EntityPayload = z.output<typeof entityPayload>;

const variants = eachOf(
  z.object({
    url,
    content_type: term,
    bitrate: count,
    bit_rate: count,
  }),
  maximums.variants,
);

const mediaInfo = z.object({
  original_img_url: address,
  original_img_width: count,
  original_img_height: count,
  variants,
  video_info: lenient(z.object({ variants })),
});

/** A picture or a video of an article. */
export type MediaInfo = z.output<typeof mediaInfo>;

/** A long-form article. `content` has no blocks where only its beginning was sent. */
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

/** A long-form article. */
export type ArticlePayload = z.output<typeof articlePayload>;
