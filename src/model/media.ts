import * as z from 'zod';
import { list, nullableText, optionalText, record } from './record.ts';

const videoVariant = z.object({
  url: z.string(),
  content_type: nullableText,
  bitrate: z
    .number()
    .nullable()
    .describe('Bit rate in bits per second; null if unknown, for example for HLS.'),
});

/** Image, video, looping image (`gif`), audio or file. Sizes in pixels, duration in seconds. */
export const media = record('Media', {
  type: z.enum(['photo', 'video', 'gif', 'audio', 'file']),
  url: z.string(),
  width: z.number().nullable(),
  height: z.number().nullable(),
  alt: nullableText.describe(
    'Description of the content by the author of the post; null if there is none.',
  ),
  thumbnail_url: nullableText.optional(),
  duration: z.number().nullable().optional().describe('Duration in seconds, for video and audio.'),
  variants: list(videoVariant).optional(),
  name: optionalText.describe('Name of the file, for media of type `file`.'),
  content_type: optionalText.describe('Media type such as `application/pdf`. Absent if unknown.'),
  size: z.number().int().optional().describe('Size of the file in bytes. Absent if unknown.'),
});
export type Media = z.output<typeof media>;

/** Media of a post. `all` is in display order; audio and files are only in `all`. */
export const mediaSet = record('MediaSet', {
  all: list(media),
  photos: list(media),
  videos: list(media),
});
export type MediaSet = z.output<typeof mediaSet>;

/** Creates a media set. `videos` includes type `gif`. Audio and files are only in `all`. */
export function toMediaSet(all: readonly Media[]): MediaSet {
  return {
    all,
    photos: all.filter((item) => item.type === 'photo'),
    videos: all.filter((item) => item.type === 'video' || item.type === 'gif'),
  };
}
