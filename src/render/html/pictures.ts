import type { Media } from '../../model/media.ts';
import type { Post, Status } from '../../model/post.ts';
import { toLine } from '../markdown/characters.ts';
import { toSafeUrl } from './escape.ts';

interface Video {
  readonly url: string;
  readonly width: number | null;
  readonly height: number | null;
}

/** Picture that represents a post in a link preview. Sizes are in pixels, or `null` if unknown. */
export interface Picture extends Video {
  /** Description by the post's author, or title of the article whose cover is shown. Empty if there is none. */
  readonly alt: string;
}

/**
 * Returns whether a post's pictures are rendered as links only, because the post is sensitive or
 * has a content warning.
 */
export const hidesPictures = (post: Status): boolean =>
  post.possibly_sensitive || post.content_warning !== null;

/**
 * Returns the photos, video stills and article cover of a post. If there are none, returns those of
 * the quoted post. Returns an empty list for a post whose pictures are hidden.
 */
export function findPictures(post: Post | undefined): readonly Picture[] {
  if (post?.type !== 'status' || hidesPictures(post)) return [];
  const { media, article } = post;
  const cover = toWebUrl(article?.cover_url ?? null);
  const alt = toLine(article?.title ?? '');
  const covers = cover === null ? [] : [{ url: cover, width: null, height: null, alt }];
  const own = [...media.all.flatMap(pictureOf), ...covers];
  if (own.length > 0 || post.quote?.type !== 'status') return own;
  // A preview shows one level of quotes.
  return findPictures({ ...post.quote, quote: null });
}

/**
 * Returns a list with the photo, or with the still picture of a video; an empty list if there is no
 * picture. Assumes that the still picture has the size of the video.
 */
export function pictureOf(item: Media): readonly Picture[] {
  const url = toWebUrl(item.type === 'photo' ? item.url : (item.thumbnail_url ?? null));
  return url === null ? [] : [{ url, ...sizeOf(item), alt: toLine(item.alt ?? '') }];
}

/** Returns a URL in its normalized form; `null` if its scheme is neither http nor https. */
export function toWebUrl(url: string | null): string | null {
  const safe = toSafeUrl(url);
  return safe?.startsWith('http') === true ? safe : null;
}

function sizeOf({ width, height }: Media): Pick<Picture, 'width' | 'height'> {
  const isKnown = [width, height].every((value) => Number.isInteger(value) && Number(value) > 0);
  return isKnown ? { width, height } : { width: null, height: null };
}

const maxBitsPerSecond = 2_500_000;

/**
 * Returns the MP4 file of a post's first video or GIF. Returns `null` if there is none, or if the
 * pictures of the post are hidden.
 */
export function findVideo(post: Post | undefined): Video | null {
  if (post?.type !== 'status' || hidesPictures(post)) return null;
  const [item] = post.media.videos;
  const url = item && toWebUrl(chooseFile(item));
  return item && url ? { url, ...sizeOf(item) } : null;
}

/** Returns the URL of a video file that most programs can play; `null` if only a streaming playlist is known. */
export function chooseFile({ url, variants = [] }: Media): string | null {
  const files = variants
    .filter((variant) => variant.content_type === 'video/mp4')
    .toSorted((a, b) => (b.bitrate ?? 0) - (a.bitrate ?? 0));
  const fitting = files.find(({ bitrate }) => (bitrate ?? 0) <= maxBitsPerSecond);
  return (fitting ?? files.at(-1))?.url ?? (/\.mp4(?:[?#]|$)/i.test(url) ? url : null);
}
