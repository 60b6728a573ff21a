import type { Token } from 'markdown-it';
import { parseUrl } from '../../../core/http/url.ts';
import { Problem } from '../../../core/problem.ts';
import type { AddressOptions } from '../../../reads/addresses/address.ts';
import { isPlatformHost } from '../../../reads/addresses/site-path.ts';
import { escapeHtml } from '../../../render/html/escape.ts';
import { avoidInlineStyle } from '../docs/markdown.ts';
import { type OwnRead, ownAddress, parsePasted } from './pasted.ts';

export interface ResultHtml {
  readonly title: string;
  readonly html: string;
}

interface ResultOptions extends AddressOptions {
  readonly headingLevel: number;
  toPage(url: string): string;
}

/**
 * Creates a function that renders a result's Markdown as HTML. The function's second argument is the Mastodon server of
 * the result, if any. HTML is escaped and pictures become links, so that the browser sends no requests to other hosts.
 */
export async function createResultRenderer(options: ResultOptions) {
  const { default: createParser } = await import('markdown-it');
  const parser = createParser({ html: false, linkify: false });
  parser.validateLink = (url) => /^https?:\/\//i.test(url);
  const { rules } = parser.renderer;
  rules.link_close = (tokens, index) => `</a>${tokens[index]?.meta?.originalHtml ?? ''}`;
  rules.image = (tokens, index) => renderPicture(tokens[index]);
  return (markdown: string, mastodonHost: string | null = null): ResultHtml => {
    const tokens = parser.parse(markdown, {});
    const setTargets = createLinks(options, mastodonHost);
    keepOneTitle(tokens);
    nestHeadings(tokens, options.headingLevel);
    for (const token of tokens) {
      avoidInlineStyle(token);
      if (textBlock.test(token.type)) token.attrSet('dir', 'auto');
      setTargets(token.children ?? []);
    }
    const heading = tokens.findIndex(({ type }) => type === 'heading_open');
    return {
      title: heading === -1 ? '' : textOf(tokens[heading + 1]?.children ?? []),
      html: parser.renderer.render(tokens, parser.options, {}),
    };
  };
}

/** Matches Markdown tokens that open a block of text. The text direction (`dir`) is set for each block. */
const textBlock = /^(?:paragraph|heading|list_item|blockquote|th|td)_open$/;

/** Lowers all headings after the first (the title) to at least one level below the title. */
function keepOneTitle(tokens: readonly Token[]): void {
  const [title, ...others] = tokens.filter(({ type }) => type === 'heading_open');
  if (title === undefined) return;
  const below = `h${Number(title.tag.slice(1)) + 1}`;
  for (const heading of others) if (heading.tag < below) heading.tag = below;
}

/** Changes heading levels to start at `first` and to skip no level (WCAG 2.2, technique G141). */
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

/** Renders the description of a picture. The description links to the picture, unless it is inside a link. */
function renderPicture(token: Token | undefined): string {
  const name = escapeHtml(textOf(token?.children ?? []) || 'Picture');
  const text = `<span class="picture">${name}</span>`;
  return token?.meta == null ? text : `<a ${token.meta.attributes}>${text}</a>`;
}

/**
 * Creates a function that sets the targets of the links and pictures in Markdown tokens. A link to a post or an
 * account leads to a page of this server. The first link to each post or account also gets the HTML of a link to the
 * original page on the social platform.
 */
function createLinks(options: ResultOptions, mastodonHost: string | null) {
  const shown = new Set<string>();
  let count = 0;
  const isPlatform = (hostname: string) => {
    if (hostname !== mastodonHost && !isPlatformHost(hostname, options)) return false;
    count += 1;
    return count <= maxPlatformLinks;
  };
  const setLinkTarget = (open: Token, content: readonly Token[]) => {
    const href = String(open.attrGet('href'));
    const read = readLink(href, options, isPlatform);
    open.attrs = toTarget(href, read, options);
    const end = content.at(-1);
    if (end === undefined || !isFirst(read, shown)) return;
    end.meta = { originalHtml: renderOriginal(href, content) };
  };
  const setPictureTarget = (picture: Token) => {
    const href = String(picture.attrGet('src'));
    const target = toTarget(href, readLink(href, options, isPlatform), options);
    picture.meta = { attributes: joinAttributes(target) };
  };
  return (tokens: readonly Token[]): void => {
    for (const [first, ...content] of splitLinks(tokens)) {
      if (first?.type === 'link_open') setLinkTarget(first, content);
      else if (first?.type === 'image') setPictureTarget(first);
    }
  };
}

/** Maximum number of links to social platforms that become links to this server, in one result. */
const maxPlatformLinks = 2000;

/** Splits Markdown tokens into groups. Each group contains all tokens of a link, or a single other token. */
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

function readLink(href: string, options: ResultOptions, isPlatform: (hostname: string) => boolean) {
  const url = parseUrl(href);
  if (url === null) return null;
  const isOwn = ownAddress(href, options.baseUrl) !== null;
  if (!isOwn && !isPlatform(url.hostname)) return null;
  try {
    return { ...parsePasted(href, options), isOwn };
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

/** Returns the HTML attributes of a link to this server; if `read` is `null`, of a link to `href` with `nofollow`. */
function toTarget(
  href: string,
  read: LinkedRead | null,
  options: ResultOptions,
): [string, string][] {
  if (read === null) return [['href', href], ...outward];
  return [['href', options.toPage(read.isOwn ? `${options.baseUrl}${read.address}` : href)]];
}

const outward: readonly [string, string][] = [['rel', 'nofollow noopener noreferrer']];

function joinAttributes(attributes: readonly [string, string][]): string {
  return attributes.map(([name, value]) => `${name}="${escapeHtml(value)}"`).join(' ');
}

/** Read operations whose results have an original page on the social platform. */
const withOriginal: ReadonlySet<string> = new Set(['getPost', 'getProfile']);

function isFirst(read: LinkedRead | null, shown: Set<string>): boolean {
  if (read === null || read.isOwn || !withOriginal.has(read.read)) return false;
  if (shown.has(read.address)) return false;
  shown.add(read.address);
  return true;
}

/** Renders an arrow as a link to the original post or account. U+FE0E prevents the display of the arrow as an emoji. */
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
