import type { IncomingHttpHeaders } from 'node:http';
import { Problem, quoteInput } from '../problem.ts';
import { isLoopbackName, parseUrl } from './url.ts';

/** Decides which web pages may use a surface that is not open to every origin. */
export type Origins = ReturnType<typeof createOrigins>;

/**
 * Creates the rules for pages: allowed are those of Perch itself, of this machine, and of the listed
 * origins. Any page that somebody visits can make the browser send requests to this machine and its network.
 *
 * @param baseUrl Perch's own address.
 * @param others Origins in the form that browsers send; `*` is any.
 */
export function createOrigins(baseUrl: string, others: readonly string[]) {
  const listed: ReadonlySet<string> = new Set([new URL(baseUrl).origin, ...others]);
  const isAny = listed.has('*');
  const allows = (origin: string) => isAny || listed.has(origin) || isLocalOrigin(origin);
  return {
    /** Returns the problem of a request that comes from a page of an origin that is not allowed, else `null`. */
    faultOf: (headers: IncomingHttpHeaders): Problem | null => {
      const { origin } = headers;
      if (origin !== undefined) return allows(origin) ? null : refuse('web origin', origin);
      return !isAny && isEmbedded(headers) ? refuse('web origin', 'unknown') : null;
    },
    /** Returns the value of `Access-Control-Allow-Origin`; `undefined` if the header is not sent. */
    allowed: ({ origin }: IncomingHttpHeaders): string | undefined => {
      if (origin === undefined || !allows(origin)) return undefined;
      return isAny ? '*' : origin;
    },
  };
}

/**
 * Returns whether a page of another site loads the reply as a part of itself, such as a picture or a frame.
 * Such requests have no `Origin` (https://www.w3.org/TR/fetch-metadata/).
 */
function isEmbedded(headers: IncomingHttpHeaders): boolean {
  return headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-dest'] !== 'document';
}

/** Returns the problem of a request whose `Host` names another server, else `null`. */
export type HostCheck = (host: string | undefined) => Problem | null;

/**
 * Creates the check of `Host`. A page can reach a server that listens on loopback under a host name of its
 * own that it has made to point there (DNS rebinding): to the browser that is the same origin. So such a
 * server only answers to the names of loopback and to the one of its base URL.
 *
 * @param listensOn The address that the server listens on.
 */
export function createHostCheck(baseUrl: string, listensOn: string): HostCheck {
  if (!isLoopbackName(listensOn)) return () => null;
  const base = new URL(baseUrl).hostname;
  let known: string | undefined; // nearly all requests come under one name
  return (host) => {
    if (host === undefined || host === '' || host === known) return null;
    const name = parseUrl(`http://${host}`)?.hostname;
    if (name === undefined || !(isLoopbackName(name) || name === base)) {
      return refuse('host name', host);
    }
    known = host;
    return null;
  };
}

function refuse(kind: string, value: string): Problem {
  return new Problem('origin_not_allowed', {
    detail: `The request comes from the ${kind} ${quoteInput(value)}, which is not allowed here.`,
  });
}

function isLocalOrigin(origin: string): boolean {
  if (!/^https?:\/\/[^/?#@]+$/.test(origin)) return false;
  return isLoopbackName(parseUrl(origin)?.hostname ?? '');
}
