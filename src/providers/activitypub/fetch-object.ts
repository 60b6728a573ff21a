import type { HttpAnswer, RequestContext } from '../../lib/http/http-client.ts';
import { isPublicUrl } from '../../lib/http/public-host.ts';
import { parseUrl } from '../../lib/http/url.ts';
import { isObject, toObjectId } from '../../normalize/activitypub/object.ts';
import { findAlternateLink } from '../../normalize/html-tree.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { createMalformed, toMissing, unanswered } from '../failure.ts';
import { type AskHost, toHostFailure } from '../hosts.ts';

const profile = 'https://www.w3.org/ns/activitystreams';

/** Media types of objects: https://www.w3.org/TR/activitypub/#retrieving-objects */
const accept = `application/activity+json, application/ld+json; profile="${profile}"`;

/** Error for an address under which a server publishes no object that Perch reads. */
export class NotAnObject extends ProviderError {
  /** Object that the server publishes there; empty if it publishes none. */
  readonly body: Fetched['body'];

  constructor(url: URL, fault: string, body: Fetched['body'] = {}) {
    const message = `The server ${url.hostname} ${fault}`;
    super('malformed', message, { isProviderWide: false, isUnsupported: true });
    this.body = body;
  }
}

/** JSON object, with the URL from which it came, whose host vouches for it. */
export interface Fetched {
  readonly url: URL;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Function that fetches a JSON object of ActivityPub.
 * @throws ProviderError `missing`, `unavailable`, `throttled` or `malformed`; NotAnObject;
 *   Problem `overloaded`; the errors of `context.takeRequest` and `context.takeBytes`
 */
export type FetchObject = (url: string, context: RequestContext) => Promise<Fetched>;

export interface FetchOptions {
  /** Sends a request, which a signer may sign. It must connect only to public addresses. */
  readonly askHost: AskHost;
  readonly isSigned: boolean;
}

export type Objects = ReturnType<typeof createObjects>;

export function createObjects(options: FetchOptions) {
  /**
   * Fetches an object whose id is its address. An object with another id is fetched once more, from
   * there, because only its own host says what it is.
   */
  const fetchObject: FetchObject = async (url, context) => {
    const first = await fetchDocument(options, url, context);
    const id = toObjectId(first.body.id);
    if (id === null) throw new NotAnObject(first.url, 'sent an object without a public address.');
    if (id === first.url.href) return first;
    const second = await fetchDocument(options, id, { ...context, isAlternate: true });
    if (toObjectId(second.body.id) === id && second.url.href === id) return second;
    throw new NotAnObject(second.url, 'sent an object that names another address as its own.');
  };
  return {
    fetchObject,
    /** Fetches a part of a collection, which may lack an id or have that of the whole. */
    fetchPart: (url: string, context: RequestContext) =>
      fetchDocument(options, url, { ...context, isAlternate: true }),
    /** Fetches a document of WebFinger (RFC 7033). */
    fetchJson: (url: string, context: RequestContext) =>
      fetchDocument(options, url, { ...context, isAlternate: true, isJson: true }),
  };
}

interface DocumentContext extends RequestContext {
  /** Whether links of a web page are not followed any more. */
  readonly isAlternate?: boolean;
  /** Whether the media type may be any of JSON. */
  readonly isJson?: boolean;
}

const maxRedirects = 2;

async function fetchDocument(
  options: FetchOptions,
  start: string,
  { isAlternate = false, isJson = false, ...context }: DocumentContext,
): Promise<Fetched> {
  const request = { ...context, accept: isJson ? 'application/jrd+json' : accept };
  const { url, answer } = await follow(options, toPublicUrl(start), request);
  if (isJson ? jsonType.test(answer.mediaType) : isObjectAnswer(answer)) {
    return { url, body: readBody(answer, url) };
  }
  const isPage = !isAlternate && /html/.test(answer.mediaType);
  const href = isPage ? linkIn(answer.text, url) : null;
  if (href === null) throw new NotAnObject(url, 'does not publish this address as ActivityPub.');
  return fetchDocument(options, href, { ...context, isAlternate: true });
}

async function follow({ askHost, isSigned }: FetchOptions, start: URL, context: RequestContext) {
  let url = start;
  for (let redirects = 0; redirects <= maxRedirects; redirects += 1) {
    // Redirects are followed here, so that the last URL is known.
    const answer = await askHost(url, { ...context, maxRedirects: 0 }, (sent) => {
      if (!(sent instanceof URL)) refuseStatus(sent, url, isSigned);
      return sent;
    });
    if (!(answer instanceof URL)) return { url, answer };
    // A redirect into a private network, or from `https`, is a fault of this server.
    if (!isPublicUrl(answer)) throw createMalformed();
    url = answer;
  }
  throw new NotAnObject(url, 'redirects too often.');
}

function toPublicUrl(text: string): URL {
  const url = parseUrl(text);
  if (url !== null) url.hash = '';
  if (url !== null && isPublicUrl(url)) return url;
  throw toHostFailure('unavailable', unanswered.refused);
}

function refuseStatus({ status }: HttpAnswer, url: URL, isSigned: boolean): void {
  if (status === 200) return;
  if (status === 404) {
    throw new ProviderError('missing', 'The server has no such post or account.');
  }
  if (status === 410) throw toMissing('deleted');
  if (status === 401 || status === 403) {
    const message = isSigned
      ? `The server ${url.hostname} refuses the signed requests of this server (status ${status}).`
      : `The server ${url.hostname} refuses requests without a signature or a login (status ${status}). Perch signs its requests if its operator sets PERCH_ACTOR.`;
    throw toHostFailure('unavailable', message, { isUnsupported: true });
  }
  throw new NotAnObject(url, `answers with status ${status}.`);
}

const jsonType = /^application\/(?:[\w.-]+\+)?json$/;

/**
 * Returns whether the media type is one of ActivityPub. Another, such as that of an uploaded JSON
 * file, would let a file speak for its server.
 */
function isObjectAnswer({ mediaType, header }: Pick<HttpAnswer, 'mediaType' | 'header'>): boolean {
  if (mediaType === 'application/activity+json') return true;
  return mediaType === 'application/ld+json' && namesProfile(header('content-type') ?? '');
}

const namesProfile = (type: string): boolean =>
  /;\s*profile\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i
    .exec(type)
    ?.slice(1)
    .some((profiles) => profiles?.split(/\s+/).includes(profile)) === true;

function linkIn(html: string, page: URL): string | null {
  const isWanted = (type: string) =>
    /^\s*application\/activity\+json\s*(?:;|$)/i.test(type) ||
    (/^\s*application\/ld\+json\s*;/i.test(type) && namesProfile(type));
  const href = findAlternateLink(html, isWanted);
  return href === null ? null : (parseUrl(href, page)?.href ?? null);
}

function readBody({ text }: HttpAnswer, url: URL): Fetched['body'] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw toHostFailure('malformed', `The server ${url.hostname} sent invalid JSON.`, { cause });
  }
  if (!isObject(body)) throw new NotAnObject(url, 'sent no object of ActivityPub.');
  return body;
}
