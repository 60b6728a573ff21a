import type { Token } from 'markdown-it';
import { escapeHtml } from '../../render/html/escape.ts';
import { ownAddress, toOwnRead } from './own-address.ts';

/** Markdown that holds what strangers wrote, as HTML for a page. */
export interface ResultHtml {
  /** The text of its first heading, or nothing. */
  readonly title: string;
  readonly html: string;
}

/** What a result is written for. */
export interface ResultPlace {
  /** Perch's own address, without a trailing slash. */
  readonly baseUrl: string;
  /** The level of the first heading. */
  readonly headingLevel: number;
  /** Gives the link of the page that reads a URL of Perch's own. */
  toPage(url: string): string;
}

/** Gives the Markdown of a read as HTML. */
export type ResultRenderer = (markdown: string) => ResultHtml;

/**
 * Creates the renderer of results. Nothing in one becomes markup but what its Markdown says, no link
 * leads to anything but http and https, and a picture is a link to it: the page asks no other host
 * for anything. Links to Perch's own reads lead to the page that shows them. The parser is loaded
 * here, since a server that shows no page needs none.
 */
export async function createResultRenderer(place: ResultPlace): Promise<ResultRenderer> {
  const { default: createParser } = await import('markdown-it');
  const parser = createParser({ html: false, linkify: false });
  parser.validateLink = (url) => /^https?:\/\//i.test(url);
  const { rules } = parser.renderer;
  rules.link_open = (tokens, index) =>
    `<a ${toLinkAttributes(hrefOf(tokens[index], 'href'), place)}>`;
  rules.image = (tokens, index) => renderPicture(tokens[index], place);
  rules.th_open = (tokens, index) => renderCell('th', tokens[index]);
  rules.td_open = (tokens, index) => renderCell('td', tokens[index]);
  return (markdown) => {
    const tokens = parser.parse(markdown, {});
    nestHeadings(tokens, place.headingLevel);
    for (const { children } of tokens) markLinkedPictures(children ?? []);
    const heading = tokens.findIndex(({ type }) => type === 'heading_open');
    return {
      title: heading === -1 ? '' : toText(tokens[heading + 1]?.children ?? []),
      html: parser.renderer.render(tokens, parser.options, {}),
    };
  };
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

/** The policy of pages takes no style in an element, so a class says how a cell is aligned. */
function renderCell(tag: 'th' | 'td', token: Token | undefined): string {
  const aligned = /(center|right)/.exec(String(token?.attrGet('style') ?? ''))?.[1];
  return aligned === undefined ? `<${tag}>` : `<${tag} class="align-${aligned}">`;
}

/** Links do not nest, so a link that is open holds every picture up to its end. */
function markLinkedPictures(tokens: readonly Token[]): void {
  let isLinked = false;
  for (const token of tokens) {
    if (token.type === 'link_open') isLinked = true;
    else if (token.type === 'link_close') isLinked = false;
    else if (token.type === 'image') token.meta = { isLinked };
  }
}

/** Writes a picture as its name, which is a link to it unless it is within a link already. */
function renderPicture(token: Token | undefined, place: ResultPlace): string {
  const name = escapeHtml(toText(token?.children ?? []) || 'Picture');
  const text = `<span class="picture">${name}</span>`;
  if (token?.meta?.isLinked === true) return text;
  return `<a ${toLinkAttributes(hrefOf(token, 'src'), place)}>${text}</a>`;
}

function hrefOf(token: Token | undefined, attribute: 'href' | 'src'): string {
  return String(token?.attrGet(attribute) ?? '');
}

/** Whoever wrote a post vouches for its links, not this server. */
function toLinkAttributes(href: string, { baseUrl, toPage }: ResultPlace): string {
  const own = ownAddress(href, baseUrl);
  const read = own === null ? null : toOwnRead(own);
  if (read !== null) return `href="${escapeHtml(toPage(`${baseUrl}${read.address}`))}"`;
  return `href="${escapeHtml(href)}" rel="nofollow noopener noreferrer"`;
}

function toText(tokens: readonly Token[]): string {
  return tokens
    .map((token) => (token.type === 'image' ? toText(token.children ?? []) : token.content))
    .join('');
}
