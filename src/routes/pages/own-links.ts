import { parseUrl } from '../../lib/http/url.ts';
import { Problem } from '../../lib/problem.ts';
import { isPlatformHost } from '../../model/addresses/address.ts';
import type { AddressOptions } from '../../reads/addresses/address.ts';
import type { OwnPage, ToOwnPage } from '../../render/context.ts';
import { type OwnRead, ownAddress, parsePasted } from './front/pasted.ts';

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
