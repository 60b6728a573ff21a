import { type ParsedUrlQuery, parse } from 'node:querystring';

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
