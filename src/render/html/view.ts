import { escapeLine, openLink } from './escape.ts';
import type { TagPair } from './text.ts';

export interface HtmlLinks {
  /** Returns the tags of a link; empty tags unless http, https or mailto. */
  toTags(url: string | null): TagPair;
  /** Returns a link with escaped text; only the text unless http, https or mailto. */
  link(text: string, url: string | null): string;
}

export interface HtmlView {
  readonly links: HtmlLinks;
  /** Returns a picture's address for readers; `null` if it becomes a link. */
  readonly toPictureUrl: (url: string) => string | null;
  readonly pictureWidth: number;
  /** Whether the HTML uses Perch's style sheets; otherwise, it has no classes and bars. */
  readonly isStyled: boolean;
}

export const createLinks = (toTags: HtmlLinks['toTags']): HtmlLinks => ({
  toTags,
  link: (text, url) => {
    const [open, close] = toTags(url);
    return `${open}${escapeLine(text)}${close}`;
  },
});

export const outwardLinks: HtmlLinks = createLinks((url) => {
  const open = openLink(url);
  return open === null ? ['', ''] : [open, '</a>'];
});
