import { parseUrl } from '../../lib/http/url.ts';
import { Problem } from '../../lib/problem.ts';
import { isPlatformHost } from '../../model/addresses/address.ts';
import { parseHandle } from '../../model/reference.ts';
import {
  type AddressedRead,
  type AddressOptions,
  ownPathOf,
  parseTypedInput,
  toTypedUrl,
} from '../../reads/addresses/address.ts';
import { matchOwnPath, toOwnPath } from '../../reads/addresses/own-paths.ts';
import type { OwnPage, ToOwnPage } from '../../render/context.ts';

const withOriginal: ReadonlySet<string> = new Set(['getPost', 'getProfile']);

/**
 * Creates a function that converts the URL of a post, profile, list or search, on this server or on
 * a platform, to this server's page for it (docs/decisions/0059). `toPageUrl` gets its path and
 * query here, and its complete URL here or on the platform.
 */
export function createOwnLinks(
  options: AddressOptions,
  toPageUrl: (address: string, url: string) => string,
): ToOwnPage {
  return (text, mastodonHost): OwnPage | null => {
    const isOwn = ownAddress(text, options.baseUrl) !== null;
    const found = isOwn || isPlatformUrl(text, mastodonHost, options) ? parse(text, options) : null;
    // A link to an unknown page of a server is probably no post.
    if (found === null || (!isOwn && 'url' in found.given)) return null;
    const { address, read } = found;
    return {
      url: toPageUrl(address, isOwn ? `${options.baseUrl}${address}` : text),
      hasOriginal: !isOwn && withOriginal.has(read),
    };
  };
}

function isPlatformUrl(text: string, mastodonHost: string | null, options: AddressOptions) {
  const url = parseUrl(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.hostname === mastodonHost || isPlatformHost(url.hostname, options);
}

function parse(url: string, options: AddressOptions): OwnRead | null {
  try {
    return parsePasted(url, options);
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

/** Creates a converter of URLs, here or on a platform, to HTML pages here (`format=html`). */
export const createPageUrls = (options: AddressOptions): ToOwnPage =>
  createOwnLinks(
    options,
    (address) => `${options.baseUrl}${address}${address.includes('?') ? '&' : '?'}format=html`,
  );

/** Read operation; `address` is its path and query on this server, without `format`. */
export interface OwnRead extends AddressedRead {
  readonly address: string;
}

/**
 * Parses the trimmed input: a URL, a handle, or words to search for on `platform`, if there is one.
 * @throws Problem `invalid_url`, `unsupported_host` or `invalid_path` for a URL that Perch cannot
 *   read
 */
export function parsePasted(
  text: string,
  options: AddressOptions,
  platform: string | string[] = '',
): OwnRead {
  const url = toTypedUrl(text, options);
  const own = url === null ? null : ownAddress(url, options.baseUrl);
  const ownRead = own === null ? null : toOwnRead(own);
  if (ownRead !== null) return ownRead;
  const given = platform === '' ? { q: text } : { q: text, platform };
  const words = { read: 'searchPosts', given } as const;
  const found = parseTypedInput(text, options, 'The link') ?? words;
  return { ...found, address: toOwnPath(found, 'permalink') };
}

/** Returns path and query of a URL here; `null` for other URLs or URLs with user or password. */
function ownAddress(text: string, baseUrl: string): string | null {
  const url = parseUrl(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== '') {
    return null;
  }
  const path = ownPathOf(url, baseUrl);
  return path === null ? null : `${path}${url.search}`;
}

function toOwnRead(address: string): OwnRead | null {
  const [path = '', ...queries] = address.split('?');
  const pairs = queries.join('?').split('&');
  const query = pairs.filter((pair) => pair !== '' && !/^format(?:=|$)/.test(pair)).join('&');
  const found = matchOwnPath(path, `?${query}`);
  return found && { ...found, address: query === '' ? path : `${path}?${query}` };
}

/** Returns the second meaning: a search for `node.js`, an account for one word; else `null`. */
export function findOtherMeaning(text: string) {
  // A word with a dot, such as `node.js`, is parsed as a handle but may be meant as a search.
  if (/[@:\s]/.test(text) || parseHandle(text) === null) return null;
  return text.includes('.')
    ? { kind: 'search' as const, text: `"${text}"`, name: text }
    : { kind: 'account' as const, text: `@${text}`, name: `@${text}` };
}
