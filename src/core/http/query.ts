import { type ParsedUrlQuery, parse } from 'node:querystring';

/** Parses the query of a URL. A repeated parameter is a list. Never throws: invalid percent-encoding stays as it is. */
export function parseQuery(url: string): ParsedUrlQuery {
  const start = url.indexOf('?');
  // No maximum number of keys: parameters beyond it would be ignored instead of refused, and the URL is bounded.
  return start === -1 ? {} : parse(url.slice(start + 1), '&', '=', { maxKeys: 0 });
}

/** Merges the parameters of the query and of the path. Those of the path take precedence. */
export function joinParameters(query: ParsedUrlQuery, path: Readonly<ParsedUrlQuery>) {
  // A path that names the post takes precedence over the parameter `url`.
  return path.id === undefined ? { ...query, ...path } : { ...query, url: undefined, ...path };
}
