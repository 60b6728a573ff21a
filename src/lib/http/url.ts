import { type ParsedUrlQuery, parse } from 'node:querystring';

/** Parses a URL; returns `null` for an invalid URL. Replaces `URL.parse`, which Node 20 lacks. */
export function parseUrl(text: string, base?: URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

/** Returns whether a name is `localhost` (RFC 6761 §6.3), in `127.0.0.0/8`, or `::1`. */
export const isLoopbackName = (hostname: string): boolean =>
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname);

/** Loopback address for each wildcard address, to which not every client can connect. */
const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Returns the URL of a server on this machine that listens on `host`. */
export function toLocalUrl(host: string, port: number): string {
  const name = reachable[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** Parses a query. Repeated parameters become lists. Keeps invalid percent-encoding unchanged. */
export function parseQuery(url: string): ParsedUrlQuery {
  const start = url.indexOf('?');
  // No maximum number of parameters, because further parameters would be ignored without an error.
  return start === -1 ? {} : parse(url.slice(start + 1), '&', '=', { maxKeys: 0 });
}

/** Merges query and path parameters. Path parameters take precedence. */
export function joinParameters(query: ParsedUrlQuery, path: Readonly<ParsedUrlQuery>) {
  // A path that names the post takes precedence over the parameter `url`.
  return path.id === undefined ? { ...query, ...path } : { ...query, url: undefined, ...path };
}

/** Percent-encodes all but `A-Za-z0-9-_.~`, so that shells, Markdown and HTML need no escaping. */
export function encodeComponent(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
