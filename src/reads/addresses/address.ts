import type { ParsedUrlQuery } from 'node:querystring';
import { isLoopbackName, parseUrl } from '../../lib/http/url.ts';
import { Problem, type ProblemCode, quoteInput } from '../../lib/problem.ts';
import {
  isPlatformHost,
  isReadOnAnyHost,
  parseSiteUrl,
  type Sites,
  toRecordPage,
} from '../../model/addresses/address.ts';
import { decodeSegment } from '../../model/addresses/match-form.ts';
import type { Address } from '../../model/addresses/sites.ts';
import { nobodyOnX, parseHandle } from '../../model/reference.ts';
import type { ReadId } from '../index.ts';
import { matchOwnPath, parametersOfTab, readOfKind } from './own-paths.ts';

/** Read operation that a URL requests, and its parameters in the form of a parsed query string. */
export type AddressedRead = Readonly<{ read: ReadId; given: Readonly<ParsedUrlQuery> }>;

export interface AddressOptions extends Sites {
  readonly baseUrl: string;
}

type Refuse = (code: ProblemCode, fault: string, resolution?: string) => Problem;

const maxAddress = 8192;

/**
 * Parses a URL, with or without a scheme, or an `at://` address. The URL can be part of another
 * one, as in `https://perch.example/https://x.com/jack`. `subject` starts error messages, such as
 * `The URL in the path`.
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
  if (text.length > maxAddress)
    throw refuse('invalid_url', `is longer than ${maxAddress} characters`);
  return readWritten(text, { options, refuse, isInner: false, readsObjects: hasScheme(text) });
}

const notAddressed = 'is not the URL of a post, an account or a search';

interface AddressContext {
  readonly options: AddressOptions;
  readonly refuse: Refuse;
  /** Whether the address is part of another one. Addresses within such an address are not read. */
  readonly isInner: boolean;
  /** Whether the URL of an unknown site is read as that of an object of ActivityPub. */
  readonly readsObjects: boolean;
}

function readWritten(text: string, context: AddressContext): AddressedRead {
  const { options, refuse, isInner } = context;
  const url = parseWritten(text, options.baseUrl, refuse);
  const path = ownPathOf(url, options.baseUrl);
  if (path === null) return readSite(url, context);
  const target = `${path}${url.search}`;
  const whole = findWholeUrl(target);
  // The feed paths of Nitter have `/rss` at the end.
  const own = whole ?? matchOwnPath(path.replace(/\/rss$/, ''), url.search);
  if (own !== null && typeof own === 'object') return own;
  const inner = whole ?? toTypedUrl(target.slice(1), options);
  if (inner === null || isInner) throw refuse('invalid_path', notAddressed);
  return readWritten(inner, { ...context, isInner: true, readsObjects: whole !== null });
}

function readSite(url: URL, context: AddressContext): AddressedRead {
  const { options, refuse } = context;
  const found = parseSiteUrl(url, options);
  switch (found.kind) {
    case 'refused':
      throw refuse('invalid_path', found.fault);
    case 'unknown':
      throw refuse('invalid_path', notAddressed);
    case 'foreign': {
      const inner = readWrapped(url, context);
      if (inner !== null) return inner;
      if (found.object !== null && context.readsObjects) {
        return { read: 'getPost', given: { url: found.object } };
      }
      const fault = `has the host ${quoteInput(url.hostname)}, which is not a site that Perch can read`;
      throw refuse('unsupported_host', fault, adviseMirror(url, found.onX));
    }
    default:
      return toRead(found);
  }
}

function readWrapped(url: URL, context: AddressContext): AddressedRead | null {
  const inner = context.isInner ? null : findWrapped(url, context.options);
  try {
    if (inner === null) return null;
    return readWritten(inner, { ...context, isInner: true, readsObjects: false });
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

const wholeStarts = ['/https:/', '/http:/', '/at:/'];

const maxSearched = 20;

function findWrapped({ pathname, search, searchParams }: URL, options: AddressOptions) {
  const lower = pathname.toLowerCase();
  const start = Math.max(...wholeStarts.map((text) => lower.lastIndexOf(text)));
  if (start !== -1) return `${pathname.slice(start + 1)}${search}`;
  const segments = pathname.split('/');
  const at = segments.findIndex((segment) => isPlatformHost(segment, options));
  if (at !== -1) return `https://${segments.slice(at).join('/')}${search}`;
  const values = [...searchParams.values()].slice(0, maxSearched);
  return values.find((value) => /^(?:https?|at):\/\//i.test(value)) ?? null;
}

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

/** Pattern of a path that starts with a percent-encoded URL. */
export const encodedUrl = /^\/+(?:https?|at)(?:%3a|:\/*[^/]*%2f)/i;

/** Returns the complete URL in a path, also if percent-encoded; `null` if there is none. */
export function findWholeUrl(target: string): string | null {
  const [path = '', ...queries] = target.split('?');
  const decoded = encodedUrl.test(path) ? decodeSegment(path) : path;
  const [, scheme, rest = ''] = /^\/+(https?|at):\/*(.*)$/is.exec(decoded) ?? [];
  if (scheme === undefined) return null;
  const query = queries.length === 0 ? '' : `${rest.includes('?') ? '&' : '?'}${queries.join('?')}`;
  return `${scheme}://${rest}${query}`;
}

/** Returns the path relative to `baseUrl`; `null` for URLs of other servers. */
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

/** Parses an address as people write it. @throws Problem `invalid_url` or `invalid_path` */
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
  const isPortFree = isSameServer(url, new URL(baseUrl)) || isReadOnAnyHost(url);
  return url.port === '' || isPortFree ? null : 'has a port';
}

function trimAddress(written: string): string {
  const start = written.replace(/^[\s\p{Cf}<("'“‘«]+/u, '');
  const text = start.replace(/(?<![\s\p{Cf}>])[\s\p{Cf}>]+$/u, '');
  // In a query or a fragment, punctuation can be part of the text that is searched for.
  return /[?#]/.test(text) ? text : text.replace(/(?<![.,;:!)\]>"'”’»…])[.,;:!)\]>"'”’»…]+$/u, '');
}

/** Adds a missing scheme to a host with a slash. Returns `null` for other text. */
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

/**
 * Parses trimmed text: a URL, with or without a scheme; an account (`@ada`, `ada.example`,
 * `user@host`); or an account with a path (`@ada/followers`). Returns `null` for other text.
 * @throws Problem `invalid_url`, `unsupported_host` or `invalid_path` for a URL that Perch cannot
 *   read
 */
export function parseTypedInput(
  text: string,
  options: AddressOptions,
  name: string,
): AddressedRead | null {
  if (hasScheme(text)) return parseAddress(toTypedUrl(text, options) ?? text, options, name);
  const account = parseAccount(text);
  if (account !== null) return account;
  const url = toTypedUrl(text, options);
  if (url === null) return parseAccountPath(text);
  try {
    return parseAddress(text, options, name);
  } catch (error) {
    // A domain before a slash is either the host of a URL or a handle.
    const isUnknown = error instanceof Problem && error.code === 'unsupported_host';
    const found = isUnknown ? parseAccountPath(text) : null;
    if (found === null) throw error;
    return found;
  }
}

function parseAccount(text: string): AddressedRead | null {
  const account = /[@.:]/.test(text) ? parseHandle(text) : null;
  return account && { read: 'getProfile', given: { handle: account.handle } };
}

function parseAccountPath(text: string): AddressedRead | null {
  const [first = '', ...rest] = text.split('/');
  if (rest.length === 0 || !/[@.:]/.test(first) || /[\s?#]/.test(text)) return null;
  const found = matchOwnPath(`/${text}`, '');
  const account = typeof found?.given.handle === 'string' ? parseHandle(found.given.handle) : null;
  if (found === null || account === null) return null;
  return { read: found.read, given: { ...found.given, handle: account.handle } };
}
