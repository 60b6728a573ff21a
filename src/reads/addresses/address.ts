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
 * Reads the URL of a post, account, list, search or hashtag, http or https, also behind this server's own address.
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
  const parse = (written: string) =>
    parseHttpUrl(written, place.baseUrl, (fault) => fail('invalid_url', fault));
  const outer = parse(text);
  const inner = wholeUrlIn(`${ownPathOf(outer, place.baseUrl) ?? ''}${outer.search}`);
  const url = inner === null ? outer : parse(inner);
  const path = ownPathOf(url, place.baseUrl);
  const found = path === null ? matchSitePath(url, place) : matchOwnPath(path, url.search);
  if (found === 'no such site') {
    throw new Problem('unsupported_host', {
      detail: `${subject} names the host ${quoteInput(url.hostname)}, which Perch does not read.`,
    });
  }
  if (!found) throw fail('invalid_path', 'is not the URL of a post, an account or a search');
  return found;
}

/** Returns the URL in a path such as `/https://x.com/jack`, also with one slash or percent-encoded; else `null`. */
export function wholeUrlIn(target: string): string | null {
  const [path = '', ...queries] = target.split('?');
  const decoded = /^\/https?(?:%3a|:\/*[^/]*%2f)/i.test(path) ? decodeSegment(path) : path;
  const [, scheme, rest = ''] = /^\/(https?):\/*(.*)$/is.exec(decoded) ?? [];
  if (scheme === undefined) return null;
  const query = queries.length === 0 ? '' : `${rest.includes('?') ? '&' : '?'}${queries.join('?')}`;
  return `${scheme}://${rest}${query}`;
}

/** Returns the path of a URL below Perch's own address, on loopback under any of its names; else `null`. */
export function ownPathOf(url: URL, baseUrl: string): string | null {
  const base = new URL(baseUrl);
  const prefix = base.pathname.replace(/\/$/, '');
  const isOwn = isSameServer(url, base) && url.pathname.startsWith(`${prefix}/`);
  return isOwn ? url.pathname.slice(prefix.length) : null;
}

function isSameServer(url: URL, base: URL): boolean {
  if (url.host === base.host) return true;
  return (
    [url, base].every(({ hostname }) => isLoopbackName(hostname)) && portOf(url) === portOf(base)
  );
}

const portOf = ({ port, protocol }: URL) => port || (protocol === 'https:' ? '443' : '80');

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
  // The text, because the parser hides a port that is the scheme's own.
  const hasPort = /^[a-z]+:\/*[^/?#]*:\d*(?:[/?#]|$)/i.test(text.replace(/\[[^[\]]*\]/, ''));
  if (hasPort && !isSameServer(url, new URL(baseUrl))) throw refuse('names a port');
  return url;
}
