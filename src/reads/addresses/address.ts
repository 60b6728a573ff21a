import type { ParsedUrlQuery } from 'node:querystring';
import { isLoopbackName, parseUrl } from '../../core/http/url.ts';
import { Problem, type ProblemCode, quoteInput } from '../../core/problem.ts';
import type { ReadId } from '../index.ts';
import { decodeSegment } from './match-path.ts';
import { matchOwnPath } from './own-path.ts';
import { matchSitePath } from './site-path.ts';

export interface AddressedRead {
  readonly read: ReadId;
  readonly given: Readonly<ParsedUrlQuery>;
}

export interface AddressPlace {
  readonly baseUrl: string;
  /** Hosts whose addresses are read as those of X. */
  readonly xMirrors: readonly string[];
  readonly mastodonSearchHost: string;
}

/**
 * Reads the URL of a post, an account, a list of accounts, a search or a hashtag: of X, its mirrors,
 * Bluesky, Mastodon, or this server. `http:` counts as `https:`. The URL may stand behind this server's
 * own address once.
 *
 * @param subject The name of the input, for the detail of a problem.
 * @throws Problem `invalid_url`, `unsupported_host` or `invalid_path`
 */
export function readAddress(
  text: string,
  place: AddressPlace,
  subject = 'The parameter `url`',
): AddressedRead {
  const fail = (code: ProblemCode, fault: string) =>
    new Problem(code, { detail: `${subject} has the value ${quoteInput(text)}, which ${fault}.` });
  const outer = parseHttpUrl(text, place.baseUrl, (fault) => fail('invalid_url', fault));
  const inner = wholeUrlIn(`${ownPathOf(outer, place.baseUrl) ?? ''}${outer.search}`);
  const url =
    inner === null
      ? outer
      : parseHttpUrl(inner, place.baseUrl, (fault) => fail('invalid_url', fault));
  const path = ownPathOf(url, place.baseUrl);
  const found = path === null ? matchSitePath(url, place) : matchOwnPath(path, url.search);
  if (found === 'no such site') {
    throw new Problem('unsupported_host', {
      detail: `${subject} names the host ${quoteInput(url.hostname)}, which Perch does not read.`,
    });
  }
  if (found === null) {
    throw fail('invalid_path', 'is not the URL of a post, an account or a search');
  }
  return found;
}

/**
 * Returns the URL that a path and query of this server consists of: `/https://x.com/jack`, also with one
 * slash where a browser or proxy has merged two, and percent-encoded as a whole. Null for any other path.
 */
export function wholeUrlIn(target: string): string | null {
  const [path = '', ...queries] = target.split('?');
  const decoded = /^\/https?(?:%3a|:\/*[^/]*%2f)/i.test(path) ? decodeSegment(path) : path;
  const [, scheme, rest = ''] = /^\/(https?):\/*(.*)$/is.exec(decoded) ?? [];
  if (scheme === undefined) return null;
  const query = queries.length === 0 ? '' : `${rest.includes('?') ? '&' : '?'}${queries.join('?')}`;
  return `${scheme}://${rest}${query}`;
}

/**
 * Returns the path of a URL below Perch's own address; null for any other URL. On a loopback address
 * every name of the machine counts, and `http:` and `https:` are the same.
 */
export function ownPathOf(url: URL, baseUrl: string): string | null {
  const base = new URL(baseUrl);
  const prefix = base.pathname.replace(/\/$/, '');
  const isOwn = isSameServer(url, base) && url.pathname.startsWith(`${prefix}/`);
  return isOwn ? url.pathname.slice(prefix.length) : null;
}

function isSameServer(url: URL, base: URL): boolean {
  if (url.host === base.host) return true;
  return (
    isLoopbackName(url.hostname) && isLoopbackName(base.hostname) && portOf(url) === portOf(base)
  );
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

function parseHttpUrl(text: string, baseUrl: string, refuse: (fault: string) => Problem): URL {
  // The URL parser drops tabs and line feeds anywhere and turns `\` into `/`: refused, not mended.
  if (/[\p{Cc}\s\\]/u.test(text))
    throw refuse('has spaces, backslashes or control characters in it');
  const url = parseUrl(text);
  if (url === null) throw refuse('is not an absolute URL such as https://x.com/jack/status/20');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refuse('is neither https nor http');
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text)) {
    throw refuse('carries user information before the host');
  }
  if (hasPort(text) && !isSameServer(url, new URL(baseUrl))) throw refuse('names a port');
  return url;
}

/** Looks at the text, because the parser hides a port that is the scheme's own. */
function hasPort(text: string): boolean {
  return /^[a-z]+:\/*[^/?#]*:\d*(?:[/?#]|$)/i.test(text.replace(/\[[^[\]]*\]/, ''));
}
