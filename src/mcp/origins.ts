import type { IncomingHttpHeaders } from 'node:http';
import { Problem, quoteInput } from '../core/problem.ts';

/** What decides who may call from a browser. */
export interface OriginRules {
  /** Perch's own address. */
  readonly baseUrl: string;
  /** The address that the server listens on. */
  readonly listensOn: string;
  /** Other origins that are allowed; `*` is any. */
  readonly origins: readonly string[];
}

/** Tells whom a request comes from, as far as a browser says it. */
export interface Origins {
  /** Gives the problem of a request from a page or under a name that is not allowed; null for any other. */
  faultOf(headers: IncomingHttpHeaders): Problem | null;
  /** Gives what `Access-Control-Allow-Origin` says to a request; undefined where it is not sent. */
  allowed(headers: IncomingHttpHeaders): string | undefined;
}

/**
 * Creates the rules of decisions section 8. A page that somebody visits can make a browser call
 * servers of that machine and of its network: by its own origin, or by a host name that it has made to
 * point here (DNS rebinding).
 */
export function createOrigins({ baseUrl, listensOn, origins }: OriginRules): Origins {
  const base = new URL(baseUrl);
  const listed: ReadonlySet<string> = new Set([base.origin, ...origins]);
  const isAny = listed.has('*');
  const isLocal = isLoopback(listensOn);
  const allows = (origin: string) => isAny || listed.has(origin) || isLocalOrigin(origin);
  const hosts = (host: string) => {
    const name = nameOf(`http://${host}`);
    return name !== null && (isLoopback(name) || name === base.hostname);
  };
  return {
    faultOf: ({ origin, host = '' }) => {
      if (origin !== undefined && !allows(origin)) return refuse('web origin', origin);
      return !isLocal || host === '' || hosts(host) ? null : refuse('host name', host);
    },
    allowed: ({ origin }) => {
      if (origin === undefined || !allows(origin)) return undefined;
      return isAny ? '*' : origin;
    },
  };
}

function refuse(kind: string, value: string): Problem {
  return new Problem('origin_not_allowed', {
    detail: `The request comes from the ${kind} ${quoteInput(value)}, which is not allowed here.`,
  });
}

function isLocalOrigin(origin: string): boolean {
  if (!/^https?:\/\/[^/?#@]+$/.test(origin)) return false;
  const name = nameOf(origin);
  return name !== null && isLoopback(name);
}

function nameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null;
}

/** RFC 6761 §6.3 keeps `localhost` for the machine itself; RFC 1122 §3.2.1.3 all of 127/8. */
function isLoopback(name: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(name);
}
