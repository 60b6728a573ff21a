import { joinParameters, parseQuery } from '../query.ts';
import { isPermalinkHandle, type ReadRoute, readRoutes } from '../routes.ts';

/** A read that one of Perch's own addresses stands for. */
export interface OwnRead {
  readonly route: ReadRoute;
  /** The parameters of the path and the query, but for `format`. */
  readonly given: Readonly<Record<string, unknown>>;
  /** The path and query, without `format`. */
  readonly address: string;
}

/**
 * Gives the path and query of a URL below Perch's own address; null for any other, and for one with a
 * user name.
 *
 * @param baseUrl Perch's own address, without a trailing slash.
 */
export function ownAddress(text: string, baseUrl: string): string | null {
  if (!URL.canParse(text)) return null;
  const [url, base] = [new URL(text), new URL(baseUrl)];
  const prefix = base.pathname.replace(/\/$/, '');
  const isOwn =
    /^https?:$/.test(url.protocol) &&
    url.username + url.password === '' &&
    url.host === base.host &&
    url.pathname.startsWith(`${prefix}/`);
  return isOwn ? `${url.pathname.slice(prefix.length)}${url.search}` : null;
}

/** The rows that have a Markdown body, the ones without parameters first. */
const pageRoutes: readonly ReadRoute[] = readRoutes
  .filter(({ read }) => read !== 'getOEmbed')
  .toSorted((a, b) => countParameters(a) - countParameters(b));

function countParameters({ path }: ReadRoute): number {
  return path.split('{').length;
}

/** Gives the read at a path and query; null where there is none that has a page of Markdown. */
export function toOwnRead(address: string): OwnRead | null {
  const [path = '', ...queries] = address.split('?');
  const segments = path.split('/').map(decodeSegment);
  for (const route of pageRoutes) {
    const parameters = matchPath(route, segments);
    if (parameters === null) continue;
    const query = withoutFormat(queries.join('?'));
    const { n: _photo, ...named } = parameters;
    const given = joinParameters(parseQuery(`?${query}`), named);
    return { route, given, address: query === '' ? path : `${path}?${query}` };
  }
  return null;
}

/** A page shows Markdown, whatever the address asks for. */
function withoutFormat(query: string): string {
  return query
    .split('&')
    .filter((pair) => pair !== '' && !/^format(?:=|$)/.test(pair))
    .join('&');
}

/** Gives the parameters of a path by the pattern of a row; null where it is another path. */
function matchPath(
  { path, surface }: ReadRoute,
  segments: readonly string[],
): Record<string, string> | null {
  const pattern = path.split('/');
  const fits =
    pattern.length === segments.length &&
    pattern.every((part, index) => isParameter(part) || part === segments[index]);
  if (!fits) return null;
  const found = pattern.flatMap((part, index) =>
    isParameter(part) ? [[part.slice(1, -1), segments[index] ?? '']] : [],
  );
  const parameters: Record<string, string> = Object.fromEntries(found);
  const { handle } = parameters;
  const isReserved = surface === 'permalink' && handle !== undefined && !isPermalinkHandle(handle);
  return isReserved ? null : parameters;
}

function isParameter(part: string): boolean {
  return part.startsWith('{');
}

/** What cannot be decoded stays as it is, and then is no name of ours. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
