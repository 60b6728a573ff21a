import type { Token } from 'markdown-it';
import { escapeHtml } from '../../../render/html/escape.ts';
import { avoidInlineStyle } from '../docs/markdown.ts';
import { createLinks, type LinkPlace, textOf } from './result-links.ts';

/** Markdown that holds what strangers wrote, as HTML for a page. */
export interface ResultHtml {
  /** The text of its first heading, or nothing. */
  readonly title: string;
  readonly html: string;
}

/** The page that a result is rendered for. */
export interface ResultPlace extends LinkPlace {
  /** The level of the first heading. */
  readonly headingLevel: number;
}

/**
 * Renders the Markdown of a read as HTML.
 *
 * @param mastodonHost The Mastodon server that answered, whose addresses can be read; default: none.
 */
export type ResultRenderer = (markdown: string, mastodonHost?: string | null) => ResultHtml;

/**
 * Creates the renderer of results. Nothing in one becomes markup but what its Markdown says, no link
 * leads to anything but http and https, and a picture is a link to it: the page asks no other host
 * for anything. Links that Perch can read lead to the page that shows them. Each block of text has its
 * own direction. The parser is loaded here, since a server that shows no page needs none.
 */
export async function createResultRenderer(place: ResultPlace): Promise<ResultRenderer> {
  const { default: createParser } = await import('markdown-it');
  const parser = createParser({ html: false, linkify: false });
  parser.validateLink = (url) => /^https?:\/\//i.test(url);
  const { rules } = parser.renderer;
  rules.link_close = (tokens, index) => `</a>${tokens[index]?.meta?.originalHtml ?? ''}`;
  rules.image = (tokens, index) => renderPicture(tokens[index]);
  return (markdown, mastodonHost = null) => {
    const tokens = parser.parse(markdown, {});
    const leadLinks = createLinks(place, mastodonHost);
    keepOneTitle(tokens);
    nestHeadings(tokens, place.headingLevel);
    for (const token of tokens) {
      avoidInlineStyle(token);
      if (textBlocks.has(token.type)) token.attrSet('dir', 'auto');
      leadLinks(token.children ?? []);
    }
    const heading = tokens.findIndex(({ type }) => type === 'heading_open');
    return {
      title: heading === -1 ? '' : textOf(tokens[heading + 1]?.children ?? []),
      html: parser.renderer.render(tokens, parser.options, {}),
    };
  };
}

/** Tokens of the blocks that hold text, each in a language of its own. */
const textBlocks: ReadonlySet<string> = new Set([
  'paragraph_open',
  'heading_open',
  'list_item_open',
  'blockquote_open',
  'th_open',
  'td_open',
]);

/** The first heading is the title of the result. An article has headings of any level, all below it. */
function keepOneTitle(tokens: readonly Token[]): void {
  const [title, ...others] = tokens.filter(({ type }) => type === 'heading_open');
  if (title === undefined) return;
  const below = `h${Number(title.tag.slice(1)) + 1}`;
  for (const heading of others) if (heading.tag < below) heading.tag = below;
}

/** Headings of a page skip no level (WCAG 2.2, technique G141), whatever the Markdown begins with. */
export function nestHeadings(tokens: readonly Token[], first: number): void {
  const open: number[] = [];
  let tag = '';
  for (const token of tokens) {
    if (token.type === 'heading_close') token.tag = tag;
    if (token.type !== 'heading_open') continue;
    const level = Number(token.tag.slice(1));
    while ((open.at(-1) ?? 0) >= level) open.pop();
    open.push(level);
    tag = `h${Math.min(first + open.length - 1, 6)}`;
    token.tag = tag;
  }
}

/** Writes a picture as its name, which is a link to it unless it is within a link already. */
function renderPicture(token: Token | undefined): string {
  const name = escapeHtml(textOf(token?.children ?? []) || 'Picture');
  const text = `<span class="picture">${name}</span>`;
  return token?.meta == null ? text : `<a ${token.meta.attributes}>${text}</a>`;
}
