import type { Media } from '../../model/media.ts';
import type { Post, Status } from '../../model/post.ts';
import { toLine } from '../markdown/characters.ts';
import { toSafeUrl } from './markup.ts';

interface Video {
  readonly url: string;
  readonly width: number | null;
  readonly height: number | null;
}

/** Picture of a link preview. Sizes are in pixels, or `null` if unknown. */
export interface Picture extends Video {
  /** Description by the author, or title of the article of a cover. Empty if there is none. */
  readonly alt: string;
}

/** Returns whether pictures become links: the post is sensitive or has a content warning. */
export const hidesPictures = (post: Status): boolean =>
  post.possibly_sensitive || post.content_warning !== null;

/** Returns a post's pictures, else those of the quoted post; an empty list if they are hidden. */
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

/** Returns the photo or still picture, if any. Assumes that a still has the video's size. */
function pictureOf(item: Media): readonly Picture[] {
  const url = toWebUrl(item.type === 'photo' ? item.url : (item.thumbnail_url ?? null));
  return url === null ? [] : [{ url, ...sizeOf(item), alt: toLine(item.alt ?? '') }];
}

/** Returns the normalized URL; `null` unless http or https. */
export function toWebUrl(url: string | null): string | null {
  const safe = toSafeUrl(url);
  return safe?.startsWith('http') === true ? safe : null;
}

function sizeOf({ width, height }: Media): Pick<Picture, 'width' | 'height'> {
  const isKnown = [width, height].every((value) => Number.isInteger(value) && Number(value) > 0);
  return isKnown ? { width, height } : { width: null, height: null };
}

const maxBitsPerSecond = 2_500_000;

/** Returns the MP4 of the first video or GIF; `null` without one or if pictures are hidden. */
export function findVideo(post: Post | undefined): Video | null {
  if (post?.type !== 'status' || hidesPictures(post)) return null;
  const [item] = post.media.videos;
  const url = item && toWebUrl(chooseFile(item));
  return item && url ? { url, ...sizeOf(item) } : null;
}

/** Returns the file that most programs play; `null` if only a streaming playlist is known. */
export function chooseFile({ url, variants = [] }: Media): string | null {
  const files = variants
    .filter((variant) => variant.content_type === 'video/mp4')
    .toSorted((a, b) => (b.bitrate ?? 0) - (a.bitrate ?? 0));
  const fitting = files.find(({ bitrate }) => (bitrate ?? 0) <= maxBitsPerSecond);
  return (fitting ?? files.at(-1))?.url ?? (/\.mp4(?:[?#]|$)/i.test(url) ? url : null);
}
