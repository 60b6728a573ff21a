import type { Media } from '../../model/media.ts';
import type { Post, Status } from '../../model/post.ts';
import type { Figure, MediaItem } from '../blocks/block.ts';
import { toLine } from '../markdown/characters.ts';
import { formatDuration } from '../markdown/layout.ts';
import {
  escapeHtml,
  escapeLine,
  type HtmlView,
  joinParts,
  paragraph,
  renderList,
  toSafeUrl,
} from './markup.ts';

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

const maxHeight = 576;

/** Renders an `img` with its size, so that the page does not move; `null` for a link instead. */
function renderImage(figure: Figure, view: HtmlView): string | null {
  const source = view.toPictureUrl(figure.url);
  if (source === null) return null;
  const alt = `alt="${escapeLine(figure.label)}"`;
  const loading = view.isStyled ? 'loading="lazy" decoding="async"' : responsive;
  return `<img src="${escapeHtml(source)}" ${alt}${sizeAttributesOf(figure, view)} ${loading} referrerpolicy="no-referrer" />`;
}

/** Styles without Perch's style sheets: some programs would stretch a wide picture. */
const responsive = 'style="max-width:100%;height:auto"';

function sizeAttributesOf(figure: Figure, { pictureWidth, isStyled }: HtmlView): string {
  const size = scaleDown(figure, pictureWidth);
  if (size !== null) return ` width="${size.width}" height="${size.height}"`;
  return isStyled ? '' : ` width="${pictureWidth}"`;
}

function scaleDown({ width, height }: Figure, maxWidth: number) {
  if (!isSize(width) || !isSize(height)) return null;
  const scale = Math.min(1, maxWidth / width, maxHeight / height);
  return {
    width: Math.max(1, Math.round(width * scale)),
    height: Math.max(1, Math.round(height * scale)),
  };
}

const isSize = (size: number | null): size is number =>
  Number.isSafeInteger(size) && Number(size) > 0;

/** Renders a linked picture; a link with its description if it cannot be shown. */
export function renderFigure(figure: Figure, view: HtmlView, mark = ''): string {
  const image = renderImage(figure, view);
  if (image === null) return renderPictureLink(figure, view);
  const [open, close] = view.links.toTags(figure.target);
  const shown = `${open}${image}${mark}${close}`;
  if (!view.isStyled) return shown;
  const isSized = scaleDown(figure, view.pictureWidth) !== null;
  return `<div class="${isSized ? 'figure' : 'figure unsized'}">${shown}</div>`;
}

function renderPictureLink({ target, label }: Figure, view: HtmlView): string {
  const [open, close] = view.links.toTags(target);
  const shown = escapeLine(label);
  return `${open}${view.isStyled ? `<span class="picture">${shown}</span>` : shown}${close}`;
}

export const isShown = ({ url }: Figure, view: HtmlView): boolean =>
  view.toPictureUrl(url) !== null;

/** Renders a list on styled pages, paragraphs for other programs, whose lists have bullets. */
export function renderMedia(items: readonly MediaItem[], view: HtmlView): string {
  const rendered = items.map((item) => renderItem(item, view));
  if (!view.isStyled) return joinParts(rendered.map((item) => paragraph(item)));
  const name =
    items.filter(({ item }) => isPicture(item, view)).length > 1 ? 'media grid' : 'media';
  return renderList(rendered, name);
}

function isPicture(item: Media, view: HtmlView): boolean {
  const still = stillOf(item);
  return still !== null && view.toPictureUrl(still) !== null;
}

function stillOf({ type, url, thumbnail_url: still }: Media): string | null {
  if (type === 'photo') return url;
  return type === 'video' || type === 'gif' ? (still ?? null) : null;
}

function renderItem({ item, label, caption }: MediaItem, view: HtmlView): string {
  const still = stillOf(item);
  const { url: target, width, height } = item;
  if (still === null) return view.links.link(label, target);
  const figure = { url: still, target, label: caption, width, height };
  if (!isPicture(item, view)) {
    return renderPictureLink({ ...figure, label: view.isStyled ? caption : label }, view);
  }
  const isPhoto = item.type === 'photo';
  const mark = isPhoto || !view.isStyled ? '' : renderPlayMark(item);
  const shown = renderFigure(figure, view, mark);
  // The still picture of a video looks like a photo, so a link with the label follows.
  if (!isPhoto) return `${shown}${view.isStyled ? ' ' : '<br />'}${view.links.link(label, target)}`;
  return view.isStyled ? `${shown}${renderCaption(item)}` : shown;
}

function renderPlayMark({ type, duration = null }: Media): string {
  const time = type === 'gif' || duration === null ? '' : ` ${formatDuration(duration)}`;
  return `<span class="play" aria-hidden="true">\u25b6\ufe0e${type === 'gif' ? ' GIF' : time}</span>`;
}

function renderCaption({ alt }: Media): string {
  const text = toLine(alt ?? '').trim();
  if (text === '') return '';
  return `<details class="caption"><summary>Description</summary>${joinParts([paragraph(escapeLine(text))])}</details>`;
}

/** Renders a profile picture; an empty string if there is none or it cannot be shown. */
export function renderAvatar(url: string | null, view: HtmlView, pixels = 40): string {
  const source = url === null ? null : view.toPictureUrl(url);
  if (source === null) return '';
  return `<img class="avatar" src="${escapeHtml(source)}" alt="" width="${pixels}" height="${pixels}" loading="lazy" decoding="async" referrerpolicy="no-referrer" />`;
}
