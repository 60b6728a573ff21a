import type { ParsedUrlQuery } from 'node:querystring';
import { isLoopbackName, parseUrl } from '../../core/http/url.ts';
import { Problem, type ProblemCode, quoteInput } from '../../core/problem.ts';
import type { ReadId } from '../index.ts';
import { decodeSegment } from './match-path.ts';
import { matchOwnPath } from './own-path.ts';
import { matchSitePath } from './site-path.ts';

/** Read operation that a URL requests, and its parameters in the form of a parsed query string. */
export type AddressedRead = Readonly<{ read: ReadId; given: Readonly<ParsedUrlQuery> }>;

export interface AddressOptions {
  readonly baseUrl: string;
  /** Host names of X mirrors, whose URLs are parsed like URLs of X. */
  readonly xMirrors: readonly string[];
  readonly mastodonSearchHost: string;
}

/**
 * Parses the URL of a post, account, list, search or hashtag. The URL can also follow the base URL
 * of this server, as in `https://perch.example/https://x.com/jack`. `subject` is the start of error
 * messages, such as `The URL in the path`.
 * @throws Problem `invalid_url`, `unsupported_host` or `invalid_path`
 */
export function parseAddress(
  text: string,
  options: AddressOptions,
  subject = 'The parameter `url`',
): AddressedRead {
  const fail = (code: ProblemCode, fault: string) =>
    new Problem(code, { detail: `${subject} has the value ${quoteInput(text)}, which ${fault}.` });
  const parse = (written: string) =>
    parseHttpUrl(written, options.baseUrl, (fault) => fail('invalid_url', fault));
  const outer = parse(text);
  const inner = findWholeUrl(`${ownPathOf(outer, options.baseUrl) ?? ''}${outer.search}`);
  const url = inner === null ? outer : parse(inner);
  const path = ownPathOf(url, options.baseUrl);
  const found = path === null ? matchSitePath(url, options) : matchOwnPath(path, url.search);
  if (found === 'no such site') {
    const detail = `${subject} has the host ${quoteInput(url.hostname)}, which is not a site that Perch can read.`;
    throw new Problem('unsupported_host', { detail });
  }
  if (!found) throw fail('invalid_path', 'is not the URL of a post, an account or a search');
  return found;
}

/**
 * Returns the complete URL in a path such as `/https://x.com/jack`, also if the URL is
 * percent-encoded; `null` if the path contains no complete URL.
 */
export function findWholeUrl(target: string): string | null {
  const [path = '', ...queries] = target.split('?');
  const decoded = /^\/https?(?:%3a|:\/*[^/]*%2f)/i.test(path) ? decodeSegment(path) : path;
  const [, scheme, rest = ''] = /^\/(https?):\/*(.*)$/is.exec(decoded) ?? [];
  if (scheme === undefined) return null;
  const query = queries.length === 0 ? '' : `${rest.includes('?') ? '&' : '?'}${queries.join('?')}`;
  return `${scheme}://${rest}${query}`;
}

/** Returns the path of a URL of this server, relative to `baseUrl`; `null` for URLs of other servers. */
export function ownPathOf(url: URL, baseUrl: string): string | null {
  const base = new URL(baseUrl);
  const prefix = base.pathname.replace(/\/$/, '');
  const isOwn = isSameServer(url, base) && url.pathname.startsWith(`${prefix}/`);
  return isOwn ? url.pathname.slice(prefix.length) : null;
}

function isSameServer(url: URL, base: URL): boolean {
  const areLocal = isLoopbackName(url.hostname) && isLoopbackName(base.hostname);
  return url.host === base.host || (areLocal && portOf(url) === portOf(base));
}

const portOf = ({ port, protocol }: URL) => port || (protocol === 'https:' ? '443' : '80');

function parseHttpUrl(text: string, baseUrl: string, refuse: (fault: string) => Problem): URL {
  // The URL parser would silently drop tabs and line feeds and turn `\` into `/`.
  if (/[\p{Cc}\s\\]/u.test(text))
    throw refuse('contains spaces, backslashes or control characters');
  const url = parseUrl(text);
  if (url === null) throw refuse('is not an absolute URL such as https://x.com/jack/status/20');
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refuse('is neither https nor http');
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text)) {
    throw refuse('has a user name or password before the host');
  }
  // Tests the text because the URL parser drops the default port of the scheme.
  const hasPort = /^[a-z]+:\/*[^/?#]*:\d*(?:[/?#]|$)/i.test(text.replace(/\[[^[\]]*\]/, ''));
  if (hasPort && !isSameServer(url, new URL(baseUrl))) throw refuse('has a port');
  return url;
}
