import type { Media } from '../../model/media.ts';
import type { Post } from '../../model/post.ts';
import { toLine } from '../markdown/characters.ts';
import { toSafeUrl } from './escape.ts';

/** A file that a chat can play in place. Sizes in pixels, `null` if not known. */
interface Video {
  readonly url: string;
  readonly width: number | null;
  readonly height: number | null;
}

/** A picture that represents a post; `alt` is the author's description on one line, or empty. */
export interface Picture extends Video {
  readonly alt: string;
}

/**
 * Returns the pictures that represent a post that is not sensitive: its photos, the stills of its videos, the cover
 * of its article, else those of the post that it quotes.
 */
export function findPictures(post: Post | undefined): readonly Picture[] {
  if (post?.type !== 'status' || post.possibly_sensitive) return [];
  const { media, article } = post;
  const cover = toWebUrl(article?.cover_url ?? null);
  const alt = toLine(article?.title ?? '');
  const covers = cover === null ? [] : [{ url: cover, width: null, height: null, alt }];
  const own = [...media.all.flatMap(pictureOf), ...covers];
  if (own.length > 0 || post.quote?.type !== 'status') return own;
  // One level only, as deep as a preview shows a quote.
  return findPictures({ ...post.quote, quote: null });
}

/** The still of a video or GIF counts as large as the video: platforms cut it from a frame. */
function pictureOf(item: Media): readonly Picture[] {
  const url = toWebUrl(item.type === 'photo' ? item.url : (item.thumbnail_url ?? null));
  return url === null ? [] : [{ url, ...sizeOf(item), alt: toLine(item.alt ?? '') }];
}

/** Returns an http or https URL; `null` for any other. */
export function toWebUrl(url: string | null): string | null {
  const safe = toSafeUrl(url);
  return safe?.startsWith('http') === true ? safe : null;
}

function sizeOf({ width, height }: Media): Pick<Picture, 'width' | 'height'> {
  const isKnown = [width, height].every((value) => Number.isInteger(value) && Number(value) > 0);
  return isKnown ? { width, height } : { width: null, height: null };
}

/** Chats give up on large files: a minute at this rate is below 20 MB. */
const maxBitsPerSecond = 2_500_000;

/** Returns the MP4 of a post's first video or GIF; `null` without one, and for a sensitive post. */
export function findVideo(post: Post | undefined): Video | null {
  if (post?.type !== 'status' || post.possibly_sensitive) return null;
  const [item] = post.media.videos;
  const url = item && toWebUrl(chooseFile(item));
  return item && url ? { url, ...sizeOf(item) } : null;
}

function chooseFile({ url, variants = [] }: Media): string | null {
  const files = variants
    .filter((variant) => variant.content_type === 'video/mp4')
    .toSorted((a, b) => (b.bitrate ?? 0) - (a.bitrate ?? 0));
  const fitting = files.find(({ bitrate }) => (bitrate ?? 0) <= maxBitsPerSecond);
  return (fitting ?? files.at(-1))?.url ?? (/\.mp4(?:[?#]|$)/i.test(url) ? url : null);
}
