import type { Token } from 'markdown-it';
import { parseUrl } from '../../../core/http/url.ts';
import { Problem } from '../../../core/problem.ts';
import type { AddressPlace } from '../../../reads/addresses/address.ts';
import { isPlatformHost } from '../../../reads/addresses/site-path.ts';
import { escapeHtml } from '../../../render/html/escape.ts';
import { type OwnRead, ownAddress, readPasted } from './pasted.ts';

/** Settings for the links of a result. */
export interface LinkPlace extends AddressPlace {
  /** Returns the link of the page that reads a URL. */
  toPage(url: string): string;
}

/** Sets where the links and pictures among the inline tokens of one block lead. */
export type LeadLinks = (tokens: readonly Token[]) => void;

/**
 * Creates what sets the links of one result. Addresses that Perch reads lead to the page that shows them:
 * those of Perch itself, and of hosts that are a platform for certain. The first link to each post or
 * account of a platform is followed by one to the original, whose HTML is in `meta` of the token that
 * ends the link. `meta` of a picture outside of links has the attributes of the link to it.
 *
 * @param mastodonHost The Mastodon server that answered, which is one for certain; null for none.
 */
export function createLinks(place: LinkPlace, mastodonHost: string | null): LeadLinks {
  const shown = new Set<string>();
  let count = 0;
  const isPlatform = (hostname: string) => {
    if (hostname !== mastodonHost && !isPlatformHost(hostname, place)) return false;
    count += 1;
    return count <= maxPlatformLinks;
  };
  const readOf = (href: string) => readLink(href, place, isPlatform);
  const leadLink = (open: Token, content: readonly Token[]) => {
    const href = String(open.attrGet('href'));
    const read = readOf(href);
    open.attrs = toTarget(href, read, place);
    const hasOriginal = isFirst(read, shown);
    const end = content.at(-1);
    if (end !== undefined && hasOriginal)
      end.meta = { originalHtml: renderOriginal(href, content) };
  };
  return (tokens) => {
    for (const [first, ...content] of splitLinks(tokens)) {
      if (first?.type === 'link_open') leadLink(first, content);
      else if (first?.type === 'image') {
        const href = String(first.attrGet('src'));
        first.meta = { attributes: joinAttributes(toTarget(href, readOf(href), place)) };
      }
    }
  };
}

/** Maximum number of links to platforms that are read in one result; those after them stay as they are. */
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

interface LinkedRead extends OwnRead {
  readonly isOwn: boolean;
}

function readLink(
  href: string,
  place: LinkPlace,
  isPlatform: (hostname: string) => boolean,
): LinkedRead | null {
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

/** Whoever wrote a post vouches for its links, not this server. */
function toTarget(href: string, read: LinkedRead | null, place: LinkPlace): [string, string][] {
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

/** Returns the plain text of inline tokens, with the names of pictures. */
export function textOf(tokens: readonly Token[]): string {
  return tokens
    .map((token) => (token.type === 'image' ? textOf(token.children ?? []) : token.content))
    .join('');
}
