import { type ParsedUrlQuery, parse } from 'node:querystring';

/** Returns the parameters of a URL; a repeated one is a list. Never throws: broken percent-encoding stays as it is. */
export function parseQuery(url: string): ParsedUrlQuery {
  const start = url.indexOf('?');
  // All of them: a URL is bounded, and what is left out would not be refused.
  return start === -1 ? {} : parse(url.slice(start + 1), '&', '=', { maxKeys: 0 });
}

/** Joins the parameters of a query and those of the path, which win. */
export function joinParameters(query: ParsedUrlQuery, path: Readonly<ParsedUrlQuery>) {
  // A path that names the post is not overruled by `url`.
  return path.id === undefined ? { ...query, ...path } : { ...query, url: undefined, ...path };
}
