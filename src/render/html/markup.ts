import { parseUrl } from '../../lib/http/url.ts';
import { toLine } from '../markdown/characters.ts';
import { toMinute } from '../markdown/layout.ts';

/** Joins the non-empty parts with line feeds. */
export const joinParts = (parts: readonly (string | null)[]): string =>
  parts.filter(Boolean).join('\n');

/** Renders a paragraph; an empty string if it has no content. `name`: CSS class. */
export const paragraph = (html: string | null, name = ''): string =>
  html ? `<p${name === '' ? '' : ` class="${name}"`} dir="auto">${html}</p>` : '';

/** Renders a list; an empty string if there are no items. `name`: CSS class. */
export function renderList(items: readonly string[], name = '', tag: 'ul' | 'ol' = 'ul'): string {
  if (items.length === 0) return '';
  const rows = items.map((item) => `<li dir="auto">${item}</li>`).join('\n');
  return `<${tag}${name === '' ? '' : ` class="${name}"`}>\n${rows}\n</${tag}>`;
}

/** Renders a heading of a level from 1 to 6. Deeper levels become 6. */
export const heading = (level: number, html: string): string => {
  const tag = `h${Math.min(level, 6)}`;
  return `<${tag} dir="auto">${html}</${tag}>`;
};

/** Renders a `time` element; text if the time cannot be parsed. */
export function renderTime(time: string, precision: 'minute' | 'day' = 'minute'): string {
  const minute = toMinute(time);
  if (minute === null) return escapeLine(time);
  const iso = new Date(time).toISOString();
  const shown = precision === 'day' ? minute.slice(0, 10) : minute;
  return `<time datetime="${escapeHtml(iso)}">${shown}</time>`;
}

/** Start tag and end tag of an element; two empty strings for no element. */
export type TagPair = readonly [open: string, close: string];

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

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML and XHTML. Noncharacters become U+FFFD; control characters stay. */
export function escapeHtml(text: string): string {
  return text
    .replace(/\p{Noncharacter_Code_Point}/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => references[character] ?? '');
}

/** HTML that `html` inserts as it is. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** SVG logo in the page's colours; `assets/favicon.svg` has fixed colours. */
export const brandMark = new Html(
  '<svg class="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><path class="mark-perch" d="M3 27.5h26"/><path class="mark-bird" d="M4.5 10.6l6-1.9C11.6 5.9 14.1 4.2 17 4.2c4.1 0 7 3 7.3 7.2.3 4.6 1.3 8.1 4.7 11.9-4 .6-7.2.2-9.6-1.2-1.1.5-2.4.7-3.7.6-5.1-.3-8.3-4-7.7-9.3z"/><path class="mark-wing" d="M16.2 13.2c3.4.3 5.7 3.3 5.9 7.8-3.7-.3-6.3-3.3-5.9-7.8z"/><path class="mark-leg" d="M15.3 22.4v5M19 22v5.4"/><circle class="mark-eye" cx="15.6" cy="9.3" r="1.2"/></svg>',
);

/** Value in a template: texts are escaped, lists are joined, and absent values are left out. */
export type HtmlPart = Html | string | number | false | null | undefined | readonly HtmlPart[];

export const html = (texts: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html =>
  new Html(texts.map((text, at) => `${text}${writePart(parts[at])}`).join(''));

function writePart(part: HtmlPart): string {
  if (part === undefined || part === null || part === false) return '';
  if (part instanceof Html) return part.toString();
  return typeof part === 'object' ? part.map(writePart).join('') : escapeHtml(String(part));
}

/** Escapes text on one line, without control characters. */
export const escapeLine = (text: string): string => escapeHtml(toLine(text));

const linkable: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

/** Returns the normalized URL; `null` unless http, https or mailto. */
export function toSafeUrl(url: string | null): string | null {
  const parsed = url === null ? null : parseUrl(url);
  return parsed !== null && linkable.has(parsed.protocol) ? parsed.href : null;
}

/** Returns the start tag of a link; `null` unless http, https or mailto. */
export function openLink(url: string | null): string | null {
  const safe = toSafeUrl(url);
  return safe === null ? null : `<a href="${escapeHtml(safe)}" rel="nofollow noopener noreferrer">`;
}
