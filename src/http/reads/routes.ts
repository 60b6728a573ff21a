import type { ParsedUrlQuery } from 'node:querystring';
import { type Lifecycle, scheduledLifecycle } from '../../core/lifecycle.ts';
import { Problem, quoteInput } from '../../core/problem.ts';
import { type OwnPath, ownPaths, type PathPattern } from '../../reads/addresses/path-patterns.ts';
import { type AnyReadId, allReads, type ReadId, reads } from '../../reads/index.ts';
import type { AllowanceSurface } from '../key-status/plugin.ts';

type OwnRoute = OwnPath & { readonly lifecycle: Lifecycle | null };

export type ReadRoute = OwnRoute & { readonly read: ReadId };

/** Route of an import of posts, whose reply is a stream if the caller requests one. */
export type HistoryRoute = OwnRoute & { readonly read: Exclude<AnyReadId, ReadId> };

/** Deprecated path of a read. Its successor is the v1 route of that read. */
export interface AliasRoute {
  readonly id: string;
  readonly path: string;
  readonly read: ReadId | ReadChoice;
  readonly surface: 'alias';
  readonly lifecycle: Lifecycle;
}

/** Reads of an alias, and the parameter whose value selects one of these reads. */
export interface ReadChoice {
  readonly parameter: 'resource';
  readonly reads: Readonly<Record<string, ReadId>>;
}

export type Route = ReadRoute | HistoryRoute | AliasRoute;

const rows: readonly OwnRoute[] = ownPaths.map((path) => ({ ...path, lifecycle: null }));

export const readRoutes: readonly ReadRoute[] = rows.filter(
  (row): row is ReadRoute => row.read !== 'importProfilePosts',
);

export const historyRoutes: readonly HistoryRoute[] = rows.filter(
  (row): row is HistoryRoute => row.read === 'importProfilePosts',
);

const ownRoutes = [...readRoutes, ...historyRoutes];

export function isHistoryRoute(route: Route): route is HistoryRoute {
  return route.read === 'importProfilePosts';
}

/** Deprecated aliases of v1 routes (`docs/contract/reads.md#deprecated-aliases`). */
export const aliasRoutes: readonly AliasRoute[] = [
  {
    id: 'getPostLegacy',
    path: '/api/convert',
    read: 'getPost',
    surface: 'alias',
    lifecycle: scheduledLifecycle,
  },
  {
    id: 'browseLegacy',
    path: '/api/browse',
    read: {
      parameter: 'resource',
      reads: {
        profile: 'getProfile',
        followers: 'listFollowers',
        following: 'listFollowing',
        search: 'searchPosts',
      },
    },
    surface: 'alias',
    lifecycle: scheduledLifecycle,
  },
];

export const routes: readonly Route[] = [
  ...ownRoutes.filter(({ surface }) => surface === 'v1'),
  ...ownRoutes.filter(({ surface }) => surface === 'permalink'),
  ...aliasRoutes,
];

export function summarizeRoute({ read }: Route): string {
  return typeof read === 'string'
    ? allReads[read].summary
    : `Reads the resource in the parameter \`${read.parameter}\`.`;
}

/** Returns the v1 route of a read. */
export function findVersioned(read: AnyReadId): ReadRoute | HistoryRoute {
  const route = ownRoutes.find((row) => row.surface === 'v1' && row.read === read);
  if (route === undefined) throw new Error(`The read ${read} has no row in v1.`);
  return route;
}

/** Returns whether a route can run a browse read, which needs the caller's key status. */
export function isBrowseRoute({ read }: Route): boolean {
  const possible = typeof read === 'string' ? [read] : Object.values(read.reads);
  return possible.some((id) => allReads[id].isBrowse);
}

/** Returns the allowance that requests to a route spend. */
export function surfaceOf(route: Route): AllowanceSurface {
  return isBrowseRoute(route) ? 'browse' : 'post';
}

/** Paths of the pages, their assets and `/mcp`, which reject cross-origin requests. */
const closedPath = /^\/(?:docs(?:\/(?:assets\/)?[^/]*\/?)?|favicon\.ico|mcp)?$/;

/** Returns whether a URL (path and query) belongs to a surface that rejects cross-origin requests. */
export function isClosedPath(url: string): boolean {
  return isAdminPath(url) || closedPath.test(url.split('?', 1)[0] ?? '');
}

/** Returns whether browsers get every error of a path as a page (`docs/contract/reads.md#errors`). */
export function hasErrorPages(path: string): boolean {
  return /^\/(?:$|(?:docs|admin)(?:\/|$))/.test(path);
}

/** Returns whether a URL (path and query) belongs to the operator's endpoints, which reject cross-origin requests. */
export function isAdminPath(url: string): boolean {
  return /^\/(?:(?:api\/)?admin(?:\/|$)|metrics$)/.test(toPath(url));
}

/** Returns the path of a request target (RFC 9112 §3.2.2): without host and query, decoded where it is valid UTF-8. */
export function toPath(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').split('?', 1)[0] ?? '';
  return path.replaceAll(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded; // not UTF-8, so it matches no route
    }
  });
}

/** Path of a route in the syntax of the router, and the pattern of the route table that it is made from. */
export type RouterPath = Readonly<{ url: string; pattern: PathPattern }>;

/** Returns the paths of a route in the router's notation (`:handle`). Permalinks also match with a trailing slash. */
export function listRouterPaths(route: Route): readonly RouterPath[] {
  if (route.surface === 'alias') return [{ url: route.path, pattern: route }];
  const ends = route.surface === 'permalink' ? ['', '/'] : [''];
  return [route, ...(route.also ?? [])].flatMap((pattern) =>
    ends.map((end) => ({ url: `${toRouterPath(pattern)}${end}`, pattern })),
  );
}

/** Converts a path for the router. Later handles get a pattern, because `/profile/{handle}` fits `/profile/posts`. */
function toRouterPath({ path, handles }: PathPattern): string {
  const isFirst = path.startsWith('/{handle}');
  const constraint = handles === undefined || isFirst ? '' : `(^.*${handles.source}.*$)`;
  return path.replace('{handle}', `:handle${constraint}`).replaceAll(/\{(\w+)\}/g, ':$1');
}

/**
 * Returns the read that a request to an alias selects. @throws Problem `invalid_resource` or `invalid_option` if the
 * parameter does not name exactly one read; `invalid_handle` if a required handle is missing
 */
export function chooseRead(route: AliasRoute, query: ParsedUrlQuery): ReadId {
  const read = findRead(route, query) ?? refuseChoice(route, query);
  // In v1 the handle is part of the path, so the read's own parser does not report a missing one.
  if (findVersioned(read).path.includes('{handle}') && query.handle === undefined) {
    const detail = 'The parameter `handle` is missing.';
    throw new Problem('invalid_handle', { detail });
  }
  return read;
}

/** Returns the read that a request to an alias selects; `null` if the request names no read of the alias. */
export function findRead({ read }: AliasRoute, query: ParsedUrlQuery): ReadId | null {
  if (typeof read === 'string') return read;
  const value = query[read.parameter];
  const name = typeof value === 'string' ? value.toLowerCase() : '';
  return Object.hasOwn(read.reads, name) ? (read.reads[name] ?? null) : null;
}

function refuseChoice({ read }: AliasRoute, query: ParsedUrlQuery): never {
  if (typeof read === 'string') throw new Error('An alias of one read needs no choice.');
  const value = query[read.parameter];
  const name = `The parameter \`${read.parameter}\``;
  if (Array.isArray(value)) {
    const detail = `${name} is given more than once. Send it once.`;
    throw new Problem('invalid_option', { detail });
  }
  const fault = value === undefined ? 'is missing' : `has the value ${quoteInput(value)}`;
  const names = Object.keys(read.reads).map((word) => `\`${word}\``);
  const words = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  throw new Problem('invalid_resource', { detail: `${name} ${fault}. It must be ${words}.` });
}

/** Returns the query parameters that an alias passes to its read: the parameters that the read supports. */
export function pickParameters(read: ReadId, query: ParsedUrlQuery): ParsedUrlQuery {
  const { shape } = reads[read].params;
  return Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(shape, name)));
}
