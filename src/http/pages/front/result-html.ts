import type { Token } from 'markdown-it';
import { parseUrl } from '../../../core/http/url.ts';
import { Problem } from '../../../core/problem.ts';
import type { AddressOptions } from '../../../reads/addresses/address.ts';
import { isPlatformHost } from '../../../reads/addresses/site-path.ts';
import { escapeHtml } from '../../../render/html/escape.ts';
import { avoidInlineStyle } from '../docs/markdown.ts';
import { type OwnRead, ownAddress, readPasted } from './pasted.ts';

export interface ResultHtml {
  readonly title: string;
  readonly html: string;
}

interface ResultPlace extends AddressOptions {
  readonly headingLevel: number;
  toPage(url: string): string;
}

/**
 * Creates the renderer of results, whose optional second argument is the Mastodon server that answered. The Markdown
 * is the only source of markup, and a picture becomes a link, so the page sends no request to other hosts.
 */
export async function createResultRenderer(place: ResultPlace) {
  const { default: createParser } = await import('markdown-it');
  const parser = createParser({ html: false, linkify: false });
  parser.validateLink = (url) => /^https?:\/\//i.test(url);
  const { rules } = parser.renderer;
  rules.link_close = (tokens, index) => `</a>${tokens[index]?.meta?.originalHtml ?? ''}`;
  rules.image = (tokens, index) => renderPicture(tokens[index]);
  return (markdown: string, mastodonHost: string | null = null): ResultHtml => {
    const tokens = parser.parse(markdown, {});
    const leadLinks = createLinks(place, mastodonHost);
    keepOneTitle(tokens);
    nestHeadings(tokens, place.headingLevel);
    for (const token of tokens) {
      avoidInlineStyle(token);
      if (textBlock.test(token.type)) token.attrSet('dir', 'auto');
      leadLinks(token.children ?? []);
    }
    const heading = tokens.findIndex(({ type }) => type === 'heading_open');
    return {
      title: heading === -1 ? '' : textOf(tokens[heading + 1]?.children ?? []),
      html: parser.renderer.render(tokens, parser.options, {}),
    };
  };
}

/** Blocks of text, each of which has its own direction. */
const textBlock = /^(?:paragraph|heading|list_item|blockquote|th|td)_open$/;

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

/**
 * Creates the function that sets the targets of links and pictures in one result: addresses that Perch reads lead to
 * its page for them. The first link to each post or account of a platform is followed by one to the original, whose
 * HTML is in `meta` of the token that ends the link; `meta` of a picture has the attributes of the link to it.
 */
function createLinks(place: ResultPlace, mastodonHost: string | null) {
  const shown = new Set<string>();
  let count = 0;
  const isPlatform = (hostname: string) => {
    if (hostname !== mastodonHost && !isPlatformHost(hostname, place)) return false;
    count += 1;
    return count <= maxPlatformLinks;
  };
  const leadLink = (open: Token, content: readonly Token[]) => {
    const href = String(open.attrGet('href'));
    const read = readLink(href, place, isPlatform);
    open.attrs = toTarget(href, read, place);
    const end = content.at(-1);
    if (end === undefined || !isFirst(read, shown)) return;
    end.meta = { originalHtml: renderOriginal(href, content) };
  };
  const leadPicture = (picture: Token) => {
    const href = String(picture.attrGet('src'));
    const target = toTarget(href, readLink(href, place, isPlatform), place);
    picture.meta = { attributes: joinAttributes(target) };
  };
  return (tokens: readonly Token[]): void => {
    for (const [first, ...content] of splitLinks(tokens)) {
      if (first?.type === 'link_open') leadLink(first, content);
      else if (first?.type === 'image') leadPicture(first);
    }
  };
}

/** Maximum number of links to platforms that are read in one result. */
const maxPlatformLinks = 2000;

/** Splits inline tokens into whole links, which do not nest, and single tokens. */
function splitLinks(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const parts: Token[][] = [];
  let isLink = false;
  for (const token of tokens) {
    if (isLink) parts.at(-1)?.push(token);
    else parts.push([token]);
    isLink = token.type === 'link_open' || (isLink && token.type !== 'link_close');
  }
  return parts;
}

type LinkedRead = OwnRead & { readonly isOwn: boolean };

function readLink(href: string, place: ResultPlace, isPlatform: (hostname: string) => boolean) {
  const url = parseUrl(href);
  if (url === null) return null;
  const isOwn = ownAddress(href, place.baseUrl) !== null;
  if (!isOwn && !isPlatform(url.hostname)) return null;
  try {
    return { ...readPasted(href, place), isOwn };
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

/** The author of a post vouches for its links, not this server. */
function toTarget(href: string, read: LinkedRead | null, place: ResultPlace): [string, string][] {
  if (read === null) return [['href', href], ...outward];
  return [['href', place.toPage(read.isOwn ? `${place.baseUrl}${read.address}` : href)]];
}

const outward: readonly [string, string][] = [['rel', 'nofollow noopener noreferrer']];

function joinAttributes(attributes: readonly [string, string][]): string {
  return attributes.map(([name, value]) => `${name}="${escapeHtml(value)}"`).join(' ');
}

/** Reads that have one original; a list or a search is found from these. */
const withOriginal: ReadonlySet<string> = new Set(['getPost', 'getProfile']);

function isFirst(read: LinkedRead | null, shown: Set<string>): boolean {
  if (read === null || read.isOwn || !withOriginal.has(read.read)) return false;
  if (shown.has(read.address)) return false;
  shown.add(read.address);
  return true;
}

/** U+FE0E asks for the arrow as text, which some systems draw as an emoji. */
function renderOriginal(href: string, content: readonly Token[]): string {
  const name = `${textOf(content).trim()} on ${new URL(href).hostname}`;
  const attributes = joinAttributes([['href', href], ...outward, ['aria-label', name]]);
  return `<a class="original" ${attributes}>\u2197\ufe0e</a>`;
}

function textOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => (token.type === 'image' ? textOf(token.children ?? []) : token.content))
    .join('');
}
