import type { IncomingHttpHeaders } from 'node:http';
import { Problem, quoteInput } from '../problem.ts';
import { isLoopbackName, parseUrl } from './url.ts';

/** Rules that decide which web pages may send requests to a group of routes. */
export type Origins = ReturnType<typeof createOrigins>;

/** Creates rules that allow web pages of Perch, of loopback and of `others` (`*` for all). */
export function createOrigins(baseUrl: string, others: readonly string[]) {
  const listed: ReadonlySet<string> = new Set([new URL(baseUrl).origin, ...others]);
  const isAny = listed.has('*');
  const isLocal = (origin: string) =>
    /^https?:\/\/[^/?#@]+$/.test(origin) && isLoopbackName(parseUrl(origin)?.hostname ?? '');
  const allows = (origin: string) => isAny || listed.has(origin) || isLocal(origin);
  return {
    /** Returns the error for a request from an origin that is not allowed; otherwise `null`. */
    faultOf: (headers: IncomingHttpHeaders): Problem | null => {
      const { origin } = headers;
      if (origin !== undefined) return allows(origin) ? null : refuse('web origin', origin);
      // Requests for embedded resources of another site have no `Origin`
      // (https://www.w3.org/TR/fetch-metadata/).
      const { 'sec-fetch-site': site, 'sec-fetch-dest': target } = headers;
      const isEmbedded = site === 'cross-site' && target !== 'document';
      return !isAny && isEmbedded ? refuse('web origin', 'unknown') : null;
    },
    /** Returns the value of `Access-Control-Allow-Origin`; `undefined` to omit the header. */
    allowed: ({ origin }: IncomingHttpHeaders): string | undefined => {
      if (origin === undefined || !allows(origin)) return undefined;
      return isAny ? '*' : origin;
    },
  };
}

/** Check of the header `Host`. Returns an error if it names another server, otherwise `null`. */
export type HostCheck = (host: string | undefined) => Problem | null;

/** Creates a check of `Host` that protects servers on loopback from DNS rebinding. */
export function createHostCheck(baseUrl: string, listensOn: string): HostCheck {
  if (!isLoopbackName(listensOn)) return () => null;
  const base = new URL(baseUrl).hostname;
  let known: string | undefined; // cached, because nearly all requests have the same `Host`
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
