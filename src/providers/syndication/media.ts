import { type Media, type MediaSet, toMediaSet } from '../../model/media.ts';
import type { MediaPayload } from './payload.ts';

/** Gives the media of a post in display order. */
export function shapeMedia(items: readonly MediaPayload[]): MediaSet {
  return toMediaSet(items.map(shapeItem));
}

function shapeItem(item: MediaPayload): Media {
  const url = item.media_url_https;
  const width = item.original_info?.width ?? null;
  const height = item.original_info?.height ?? null;
  const alt = item.ext_alt_text;
  if (item.type === 'photo') return { type: 'photo', url, width, height, alt };
  const durationMs = item.video_info?.duration_millis ?? null;
  const isGif = item.type === 'animated_gif';
  return {
    type: isGif ? 'gif' : 'video',
    url: bestVideo(item) ?? url,
    width,
    height,
    alt,
    thumbnail_url: url,
    duration: isGif || durationMs === null ? null : durationMs / 1000,
    variants: [...(item.video_info?.variants ?? [])],
  };
}

/** Gives the mp4 with the most bits, else whatever there is. */
function bestVideo({ video_info }: MediaPayload): string | null {
  const variants = video_info?.variants ?? [];
  const [best] = variants
    .filter(({ content_type }) => content_type === 'video/mp4')
    .toSorted((a, b) => (b.bitrate ?? 0) - (a.bitrate ?? 0));
  return (best ?? variants[0])?.url ?? null;
}
