import { z } from 'zod';
import { list, nullableText, record } from './record.ts';

const videoVariant = z.object({
  url: z.string(),
  content_type: nullableText,
  bitrate: z
    .number()
    .nullable()
    .describe('Bit rate in bits per second; null if unknown, for example for HLS.'),
});

/** Image, video, looping image (`gif`) or audio. Sizes are in pixels, the duration is in seconds. */
export const media = record('Media', {
  type: z.enum(['photo', 'video', 'gif', 'audio']),
  url: z.string(),
  width: z.number().nullable(),
  height: z.number().nullable(),
  alt: nullableText.describe(
    'Description of the content by the author of the post; null if there is none.',
  ),
  thumbnail_url: nullableText.optional(),
  duration: z.number().nullable().optional().describe('Duration in seconds, for video and audio.'),
  variants: list(videoVariant).optional(),
});
export type Media = z.output<typeof media>;

/**
 * Media of a post. `all` contains all media in display order. `photos` and `videos` contain the media of these types.
 */
export const mediaSet = record('MediaSet', {
  all: list(media),
  photos: list(media),
  videos: list(media),
});
export type MediaSet = z.output<typeof mediaSet>;

/** Creates a media set. `videos` includes items of type `gif`. Audio is only in `all`. */
export function toMediaSet(all: readonly Media[]): MediaSet {
  return {
    all,
    photos: all.filter((item) => item.type === 'photo'),
    videos: all.filter((item) => item.type === 'video' || item.type === 'gif'),
  };
}
