import type { ParsedUrlQuery } from 'node:querystring';
import { isLoopbackName, parseUrl } from '../../core/http/url.ts';
import { Problem, type ProblemCode, quoteInput } from '../../core/problem.ts';
import { parseSiteUrl, type Sites, toRecordPage } from '../../model/addresses/address.ts';
import { decodeSegment } from '../../model/addresses/match-form.ts';
import type { Address } from '../../model/addresses/sites.ts';
import { nobodyOnX } from '../../model/reference.ts';
import type { ReadId } from '../index.ts';
import { matchOwnPath } from './own-path.ts';
import { parametersOfTab, readOfKind } from './own-paths.ts';

/** Read operation that a URL requests, and its parameters in the form of a parsed query string. */
export type AddressedRead = Readonly<{ read: ReadId; given: Readonly<ParsedUrlQuery> }>;

export interface AddressOptions extends Sites {
  readonly baseUrl: string;
}

/** Function that creates the error for an address. `fault` completes “The address …”. */
type Refuse = (code: ProblemCode, fault: string, resolution?: string) => Problem;

/**
 * Parses the address of a post, account, list, search or hashtag: a URL, with or without a scheme, or an `at://`
 * address. The URL can also follow the base URL of this server, as in `https://perch.example/https://x.com/jack`.
 * `subject` is the start of error messages, such as `The URL in the path`.
 * @throws Problem `invalid_url`, `unsupported_host` or `invalid_path`
 */
export function parseAddress(
  text: string,
  options: AddressOptions,
  subject = 'The parameter `url`',
): AddressedRead {
  const refuse: Refuse = (code, fault, resolution) => {
    const detail = `${subject} has the value ${quoteInput(text)}, which ${fault}.`;
    return new Problem(code, { detail, ...(resolution !== undefined && { resolution }) });
  };
  const outer = parseWritten(text, options.baseUrl, refuse);
  const inner = findWholeUrl(`${ownPathOf(outer, options.baseUrl) ?? ''}${outer.search}`);
  const url = inner === null ? outer : parseWritten(inner, options.baseUrl, refuse);
  const path = ownPathOf(url, options.baseUrl);
  if (path === null) return readSite(url, options, refuse);
  const found = matchOwnPath(path, url.search);
  if (found === null) throw refuse('invalid_path', notAddressed);
  return found;
}

const notAddressed = 'is not the URL of a post, an account or a search';

function readSite(url: URL, sites: Sites, refuse: Refuse): AddressedRead {
  const found = parseSiteUrl(url, sites);
  switch (found.kind) {
    case 'refused':
      throw refuse('invalid_path', found.fault);
    case 'unknown':
      throw refuse('invalid_path', notAddressed);
    case 'foreign': {
      const inner = wrappedUrl(url);
      if (inner !== null) return readSite(inner, sites, refuse);
      const fault = `has the host ${quoteInput(url.hostname)}, which is not a site that Perch can read`;
      throw refuse('unsupported_host', fault, adviseMirror(url, found.onX));
    }
    default:
      return toRead(found);
  }
}

/**
 * Returns the last complete URL in the path of another site, such as an archive of websites or a bridge between
 * platforms: `https://web.archive.org/web/2024/https://x.com/jack`. Returns `null` if there is none.
 */
function wrappedUrl({ pathname, search }: URL): URL | null {
  const [, inner] = /.*\/((?:https?|at):\/.+)$/i.exec(`${pathname}${search}`) ?? [];
  return inner === undefined ? null : parseUrl(toRecordPage(inner) ?? inner);
}

/** Returns the advice for a URL that has the form of a post on X but another host. */
const adviseMirror = ({ hostname }: URL, onX: string | null): string | undefined =>
  onX === null
    ? undefined
    : `If ${hostname} is a mirror of X, send \`${onX}\` instead, or ask the operator of this server to add the host to \`PERCH_X_MIRRORS\`.`;

function toRead(address: Address): AddressedRead {
  const read = readOfKind[address.kind];
  switch (address.kind) {
    case 'post':
      return { read, given: { handle: address.handle ?? nobodyOnX, id: address.id } };
    case 'search': {
      const { platform, text, feed } = address;
      return { read, given: { q: text, ...(feed !== undefined && { feed }), platform } };
    }
    case 'account': {
      const { handle, tab } = address;
      return { read, given: { handle, ...(tab !== undefined && parametersOfTab[tab]) } };
    }
    default:
      return { read, given: { handle: address.handle } };
  }
}

/**
 * Returns the complete URL in a path such as `/https://x.com/jack` or `/at://did:plc:…`, also if the URL is
 * percent-encoded; `null` if the path contains no complete URL.
 */
export function findWholeUrl(target: string): string | null {
  const [path = '', ...queries] = target.split('?');
  const decoded = /^\/+(?:https?|at)(?:%3a|:\/*[^/]*%2f)/i.test(path) ? decodeSegment(path) : path;
  const [, scheme, rest = ''] = /^\/+(https?|at):\/*(.*)$/is.exec(decoded) ?? [];
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

/** Parses an address as people write and paste it. @throws Problem `invalid_url` or `invalid_path` */
function parseWritten(written: string, baseUrl: string, refuse: Refuse): URL {
  const text = trimAddress(written);
  // The URL parser would silently drop tabs and line feeds and turn `\` into `/`.
  if (/[\p{Cc}\s\\]/u.test(text))
    throw refuse('invalid_url', 'contains spaces, backslashes or control characters');
  const page = toRecordPage(text);
  if (page === null && /^at:/i.test(text))
    throw refuse('invalid_path', 'is the address of neither a post nor an account on Bluesky');
  const own = /^\/(?!\/)/.test(text) ? `${baseUrl}${text}` : null;
  const url = parseUrl(page ?? own ?? toTypedUrl(text, { baseUrl }) ?? text);
  const fault = faultOfUrl(url, text, baseUrl);
  if (url === null || fault !== null) throw refuse('invalid_url', fault ?? notUrl);
  return url;
}

const notUrl = 'is not a URL such as https://x.com/jack/status/20';

function faultOfUrl(url: URL | null, text: string, baseUrl: string): string | null {
  if (url === null) return notUrl;
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is neither https nor http';
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text))
    return 'has a user name or password before the host';
  const hasOwnPort = isSameServer(url, new URL(baseUrl)) || defaultPorts.has(url.port);
  return hasOwnPort ? null : 'has a port';
}

const defaultPorts: ReadonlySet<string> = new Set(['', '80', '443']);

/** Removes what surrounds a URL in a sentence: spaces, invisible characters, brackets and punctuation. */
function trimAddress(written: string): string {
  const text = written.replace(/^[\s\p{Cf}<("'“‘«]+/u, '').replace(/[\s\p{Cf}>]+$/u, '');
  // In a query or a fragment, punctuation can be part of the text that is searched for.
  return /[?#]/.test(text) ? text : text.replace(/[.,;:!)\]>"'”’»…]+$/u, '');
}

/**
 * Adds a missing scheme, such as `https://`, to text that starts with a host and a slash. Returns `null` for other
 * text.
 */
export function toTypedUrl(text: string, { baseUrl }: { baseUrl: string }): string | null {
  // Browsers and proxies merge the slashes of a URL within a path.
  if (hasScheme(text)) return text.replace(/^(https?):\/(?!\/)/i, '$1://');
  const base = new URL(baseUrl);
  const [host = '', ...rest] = text.replace(/^\/\//, '').split('/');
  if (rest.length === 0) return null;
  const url = `${host}/${rest.join('/')}`;
  if (host.toLowerCase() === base.host) return `${base.protocol}//${url}`;
  if (isLoopbackName(host.replace(/:\d+$/, ''))) return `http://${url}`;
  return typedHost.test(host) && !/\s/.test(text) ? `https://${url}` : null;
}

const typedHost = /^(?:[\p{L}\p{N}-]+\.)+\p{L}{2,}(?::\d+)?$/u;

export const hasScheme = (text: string): boolean =>
  /^(?:[a-z][a-z0-9+.-]*:\/\/|https?:\/|at:)/i.test(text);
