import type { IncomingHttpHeaders } from 'node:http';
import { Problem, quoteInput } from '../problem.ts';
import { isLoopbackName, parseUrl } from './url.ts';

/** Rules for the web pages that may use a surface. */
export type Origins = ReturnType<typeof createOrigins>;

/**
 * Creates the rules: pages of Perch itself, of this machine and of other listed origins (`*` for any) are allowed,
 * because any page can make a browser send requests to this machine and its network.
 */
export function createOrigins(baseUrl: string, others: readonly string[]) {
  const listed: ReadonlySet<string> = new Set([new URL(baseUrl).origin, ...others]);
  const isAny = listed.has('*');
  const isLocal = (origin: string) =>
    /^https?:\/\/[^/?#@]+$/.test(origin) && isLoopbackName(parseUrl(origin)?.hostname ?? '');
  const allows = (origin: string) => isAny || listed.has(origin) || isLocal(origin);
  return {
    /** Returns the problem of a request that comes from a page of an origin that is not allowed, else `null`. */
    faultOf: (headers: IncomingHttpHeaders): Problem | null => {
      const { origin } = headers;
      if (origin !== undefined) return allows(origin) ? null : refuse('web origin', origin);
      // A page of another site that embeds the reply sends no `Origin` (https://www.w3.org/TR/fetch-metadata/).
      const { 'sec-fetch-site': site, 'sec-fetch-dest': target } = headers;
      const isEmbedded = site === 'cross-site' && target !== 'document';
      return !isAny && isEmbedded ? refuse('web origin', 'unknown') : null;
    },
    /** Returns the value of `Access-Control-Allow-Origin`; `undefined` if the header is not sent. */
    allowed: ({ origin }: IncomingHttpHeaders): string | undefined => {
      if (origin === undefined || !allows(origin)) return undefined;
      return isAny ? '*' : origin;
    },
  };
}

/** Returns the problem of a request whose `Host` names another server, else `null`. */
export type HostCheck = (host: string | undefined) => Problem | null;

/**
 * Creates the check of `Host`. A server that listens on loopback answers only to the names of loopback and of its base
 * URL, because a page can make its own host name point there (DNS rebinding).
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
