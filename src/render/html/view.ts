import { escapeLine, openLink } from './escape.ts';
import type { TagPair } from './text.ts';

export interface HtmlLinks {
  /** Returns the tags of a link; empty tags if the URL's scheme is not http, https or mailto. */
  toTags(url: string | null): TagPair;
  /** Returns a link with escaped text; only the escaped text if the URL's scheme is not http, https or mailto. */
  link(text: string, url: string | null): string;
}

/** How blocks become HTML. */
export interface HtmlView {
  readonly links: HtmlLinks;
  /** Returns the address at which a reader sees a picture; `null` if the picture becomes a link. */
  readonly toPictureUrl: (url: string) => string | null;
  /** Maximum width in pixels in which a picture is shown. */
  readonly pictureWidth: number;
  /** Whether the HTML is for the style sheets of Perch. Programs with styles of their own get no classes and no bars. */
  readonly isStyled: boolean;
}

export const createLinks = (toTags: HtmlLinks['toTags']): HtmlLinks => ({
  toTags,
  link: (text, url) => {
    const [open, close] = toTags(url);
    return `${open}${escapeLine(text)}${close}`;
  },
});

/** Links to the original addresses. */
export const outwardLinks: HtmlLinks = createLinks((url) => {
  const open = openLink(url);
  return open === null ? ['', ''] : [open, '</a>'];
});
