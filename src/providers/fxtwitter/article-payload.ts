import { z } from 'zod';
import { count, eachOf, lenient, words } from '../lenient.ts';
import { xId } from '../x.ts';

// A long-form article (FxTwitter, section 4.4). Offsets count Unicode code points: all inline styles
// and URLs of the recorded article that stand after an emoji fit code points and not UTF-16 units.

const offset = z.number().int().nonnegative();

const tags = eachOf(z.object({ fromIndex: offset, toIndex: offset, text: z.string() }));

const blockPayload = z.object({
  type: z.string(),
  text: z.string(),
  data: lenient(z.object({ urls: tags, mentions: tags, hashtags: tags, cashtags: tags })),
  entityRanges: eachOf(
    z.object({ key: z.coerce.string(), offset: offset.catch(0), length: offset.catch(0) }),
  ),
  inlineStyleRanges: eachOf(z.object({ style: z.string(), offset, length: offset })),
});

/** One block of an article. */
export type BlockPayload = z.output<typeof blockPayload>;

const entityPayload = z.object({
  type: z.string(),
  data: lenient(
    z.object({
      markdown: words,
      tweetId: lenient(xId),
      url: words,
      mediaItems: eachOf(z.object({ mediaId: z.coerce.string() })),
    }),
  ),
});

/** What a range of a block stands for. */
export type EntityPayload = z.output<typeof entityPayload>;

const variants = eachOf(
  z.object({
    url: z.string().min(1),
    content_type: words,
    bitrate: count,
    bit_rate: count,
  }),
);

const mediaInfo = z.object({
  original_img_url: words,
  original_img_width: count,
  original_img_height: count,
  variants,
  video_info: lenient(z.object({ variants })),
});

/** A picture or a video of an article. */
export type MediaInfo = z.output<typeof mediaInfo>;

/** A long-form article. `content` has no blocks where only its beginning was sent. */
export const articlePayload = z.object({
  id: words,
  title: z.string(),
  preview_text: words,
  created_at: words,
  modified_at: words,
  cover_media: lenient(z.object({ media_info: mediaInfo })),
  content: lenient(
    z.object({
      blocks: eachOf(blockPayload),
      entityMap: eachOf(z.object({ key: z.coerce.string(), value: entityPayload })),
    }),
  ),
  media_entities: eachOf(z.object({ media_id: z.coerce.string(), media_info: mediaInfo })),
});

/** A long-form article. */
export type ArticlePayload = z.output<typeof articlePayload>;
