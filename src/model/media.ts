import { z } from 'zod';

const videoVariant = z.object({
  url: z.string(),
  content_type: z.string().nullable(),
  bitrate: z.number().nullable().describe('Bits per second; null where unknown, as for HLS.'),
});

/** A picture, a video, a looping picture (`gif`) or a sound. Sizes in pixels, duration in seconds. */
export const media = z
  .object({
    type: z.enum(['photo', 'video', 'gif', 'audio']),
    url: z.string(),
    width: z.number().nullable(),
    height: z.number().nullable(),
    alt: z.string().nullable().describe('The author’s description; null when there is none.'),
    thumbnail_url: z.string().nullable().optional(),
    duration: z.number().nullable().optional().describe('Seconds; for video and audio.'),
    variants: z.array(videoVariant).readonly().optional(),
  })
  .readonly()
  .meta({ id: 'Media' });

/** One item of media. */
export type Media = z.output<typeof media>;

/** A post's media: `all` in display order, and the same items by kind. */
export const mediaSet = z
  .object({
    all: z.array(media).readonly(),
    photos: z.array(media).readonly(),
    videos: z.array(media).readonly(),
  })
  .readonly()
  .meta({ id: 'MediaSet' });

/** The media of one post. */
export type MediaSet = z.output<typeof mediaSet>;

/** Sorts media into a set. A `gif` moves, so it stands among the videos. */
export function toMediaSet(all: readonly Media[]): MediaSet {
  return {
    all,
    photos: all.filter((item) => item.type === 'photo'),
    videos: all.filter((item) => item.type === 'video' || item.type === 'gif'),
  };
}
