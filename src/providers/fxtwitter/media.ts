import { type Media, type MediaSet, toMediaSet } from '../../model/media.ts';
import type { MediaPayload, MediaSetPayload } from './payload.ts';

/**
 * Gives the media of a post in display order, an embedded video of another site last. The collage
 * that the service makes of several photos (`mosaic`) is no media of the post.
 */
export function shapeMedia(set: MediaSetPayload | null): MediaSet {
  if (set === null) return toMediaSet([]);
  const external = set.external === null ? [] : [shapeExternal(set.external)];
  return toMediaSet([...set.all.map(shapeItem), ...external]);
}

function shapeItem(item: MediaPayload): Media {
  const { type, url, width, height, altText: alt } = item;
  if (type === 'photo') return { type, url, width, height, alt };
  return {
    type,
    url,
    width,
    height,
    alt,
    thumbnail_url: item.thumbnail_url,
    duration: type === 'gif' ? null : item.duration,
    variants: shapeVariants(item),
  };
}

function shapeExternal(external: NonNullable<MediaSetPayload['external']>): Media {
  const { url, width, height, thumbnail_url } = external;
  return { type: 'video', url, width, height, alt: null, thumbnail_url, duration: null };
}

const containers: ReadonlyMap<string, string> = new Map([
  ['mp4', 'video/mp4'],
  ['m3u8', 'application/x-mpegURL'],
  ['webm', 'video/webm'],
]);

function shapeVariants(item: MediaPayload): NonNullable<Media['variants']> {
  if (item.formats.length === 0) return [...item.variants];
  return item.formats.map(({ url, container, bitrate }) => ({
    url,
    content_type: containers.get(container ?? '') ?? null,
    bitrate,
  }));
}
