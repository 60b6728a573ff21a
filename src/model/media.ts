import { z } from 'zod';
import { list, maybeText, record } from './record.ts';

const videoVariant = z.object({
  url: z.string(),
  content_type: maybeText,
  bitrate: z.number().nullable().describe('Bits per second; null where unknown, as for HLS.'),
});

/** A picture, a video, a looping picture (`gif`) or a sound. Sizes in pixels, duration in seconds. */
export const media = record('Media', {
  type: z.enum(['photo', 'video', 'gif', 'audio']),
  url: z.string(),
  width: z.number().nullable(),
  height: z.number().nullable(),
  alt: maybeText.describe('The author’s description; null when there is none.'),
  thumbnail_url: maybeText.optional(),
  duration: z.number().nullable().optional().describe('Seconds; for video and audio.'),
  variants: list(videoVariant).optional(),
});
export type Media = z.output<typeof media>;

/** A post's media: `all` in display order, and the same items by kind. */
export const mediaSet = record('MediaSet', {
  all: list(media),
  photos: list(media),
  videos: list(media),
});
export type MediaSet = z.output<typeof mediaSet>;

/** Sorts media into a set. A `gif` moves, so it counts as a video. */
export function toMediaSet(all: readonly Media[]): MediaSet {
  return {
    all,
    photos: all.filter((item) => item.type === 'photo'),
    videos: all.filter((item) => item.type === 'video' || item.type === 'gif'),
  };
}
