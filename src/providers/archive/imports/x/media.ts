import { type Media, type MediaSet, toMediaSet } from '../../../../model/media.ts';
import { isWebUrl } from '../../../text.ts';
import type { MediaPayload, TweetPayload } from './payload.ts';

/** Gives the media of a post in display order. */
export function shapeMedia({ entities, extended_media: extended }: TweetPayload): MediaSet {
  // Of several photos the plain entities have the first one only.
  return toMediaSet((extended.length > 0 ? extended : (entities?.media ?? [])).flatMap(shapeItem));
}

function shapeItem(item: MediaPayload): readonly Media[] {
  const picture = item.media_url_https ?? item.media_url;
  if (picture === null || !isWebUrl(picture)) return [];
  const size = item.sizes?.large ?? item.sizes?.medium;
  const known = { width: size?.w ?? null, height: size?.h ?? null, alt: item.ext_alt_text };
  if (item.video_info === null) return [{ type: 'photo', url: picture, ...known }];
  const type = item.type === 'animated_gif' ? 'gif' : 'video';
  return [{ type, ...known, ...shapeVideo(item.video_info, picture) }];
}

function shapeVideo(video: NonNullable<MediaPayload['video_info']>, picture: string) {
  const variants = video.variants.filter(({ url }) => isWebUrl(url));
  return {
    url: bestOf(variants)?.url ?? picture,
    thumbnail_url: picture,
    // A gif goes round for ever, and its duration is told as 0 or not at all.
    duration: video.duration_millis === null ? null : video.duration_millis / 1000 || null,
    variants,
  };
}

type Variant = NonNullable<MediaPayload['video_info']>['variants'][number];

/** Gives the file with the most bits; a playlist has no number of them. */
function bestOf(variants: readonly Variant[]): Variant | undefined {
  const files = variants.filter(({ content_type }) => content_type === 'video/mp4');
  return files.toSorted((a, b) => (b.bitrate ?? 0) - (a.bitrate ?? 0))[0] ?? variants[0];
}
