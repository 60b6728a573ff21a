import type { Media } from '../../model/media.ts';
import { escapeHtml, escapeLine } from '../html/escape.ts';
import { toLine } from '../markdown/characters.ts';
import { describeMedia } from '../summary.ts';
import { renderList } from './markup.ts';
import type { PageView } from './view.ts';

interface PagePicture {
  /** URL of the picture on its platform. */
  readonly url: string;
  /** URL of the picture or video on its platform, to which the picture links. */
  readonly target: string;
  /**
   * Description of the picture in plain text: the picture's alternative text, or the text of the link if no picture
   * is shown.
   */
  readonly label: string;
  /** Width in pixels; `null` if unknown. */
  readonly width: number | null;
  /** Height in pixels; `null` if unknown. */
  readonly height: number | null;
}

/** Renders the media of a post as a list: pictures if this server can show them, and links for all other media. */
export function renderMedia(all: readonly Media[], view: PageView): string {
  const labels = describeMedia(all);
  const items = all.map((item, at) => {
    const alt = item.type === 'photo' ? toLine(item.alt ?? '') : '';
    return renderItem(item, alt || (labels[at] ?? ''), view);
  });
  return renderList(items, 'media');
}

function renderItem(item: Media, label: string, view: PageView): string {
  const still = item.type === 'photo' ? item.url : (item.thumbnail_url ?? null);
  const { url: target, width, height } = item;
  if (still === null || item.type === 'audio' || item.type === 'file')
    return view.links.link(label, target);
  const shown = renderPicture({ url: still, target, label, width, height }, view);
  // The still picture of a video looks like a photo, so a link with the label follows.
  const needsLink = item.type !== 'photo' && shown.includes('<img');
  return needsLink ? `${shown} ${view.links.link(label, target)}` : shown;
}

/**
 * Renders a picture that links to `target`. If this server cannot show the picture, the link
 * contains the description instead.
 */
export function renderPicture(picture: PagePicture, view: PageView): string {
  const { url, target, label } = picture;
  const source = view.toPictureUrl(url);
  const [open, close] = view.links.toTags(target);
  if (source !== null) return `${open}${renderImage(source, picture)}${close}`;
  view.hasLinkedPictures = true;
  return `${open}<span class="picture">${escapeLine(label)}</span>${close}`;
}

function renderImage(source: string, { label, width, height }: PagePicture): string {
  const isSized = [width, height].every((size) => Number.isInteger(size) && Number(size) > 0);
  const size = isSized ? ` width="${width}" height="${height}"` : '';
  return `<img src="${escapeHtml(source)}" alt="${escapeLine(label)}" dir="auto"${size} loading="lazy" decoding="async">`;
}

/** Renders the profile picture of an account; an empty string if there is none or this server cannot show it. */
export function renderAvatar(url: string | null, view: PageView): string {
  const source = url === null ? null : view.toPictureUrl(url);
  if (source === null) return '';
  return `<img class="avatar" src="${escapeHtml(source)}" alt="" width="40" height="40" loading="lazy" decoding="async">`;
}
