import type { Media } from '../../model/media.ts';
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
} from './markup.ts';

const maxHeight = 576;

/** Renders an `img` with its size, so that the page does not move; `null` for a link instead. */
function renderImage(figure: Figure, view: HtmlView): string | null {
  const source = view.toPictureUrl(figure.url);
  if (source === null) return null;
  const alt = `alt="${escapeLine(figure.label)}"`;
  const loading = view.isStyled ? 'loading="lazy" decoding="async"' : responsive;
  return `<img src="${escapeHtml(source)}" ${alt}${sizeOf(figure, view)} ${loading} referrerpolicy="no-referrer" />`;
}

/** Styles without Perch's style sheets: some programs would stretch a wide picture. */
const responsive = 'style="max-width:100%;height:auto"';

function sizeOf(figure: Figure, { pictureWidth, isStyled }: HtmlView): string {
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
