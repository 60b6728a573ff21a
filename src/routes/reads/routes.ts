import type { ParsedUrlQuery } from 'node:querystring';
import { type Lifecycle, scheduledLifecycle } from '../../lib/lifecycle.ts';
import { Problem, quoteInput } from '../../lib/problem.ts';
import { type OwnPath, ownPaths, type PathPattern } from '../../reads/addresses/own-paths.ts';
import { type AnyReadId, allReads, type ReadId, reads } from '../../reads/index.ts';
import { suggestChoice } from '../../reads/parameters.ts';
import type { AllowanceSurface } from '../key-status/plugin.ts';

type OwnRoute = OwnPath & { readonly lifecycle: Lifecycle | null };

export type ReadRoute = OwnRoute & { readonly read: ReadId };

export type HistoryRoute = OwnRoute & { readonly read: Exclude<AnyReadId, ReadId> };

/** Deprecated route of one or more read operations, which v1 routes replace. */
export interface AliasRoute {
  readonly id: string;
  readonly path: string;
  readonly read: ReadId | ReadChoice;
  readonly surface: 'alias';
  readonly lifecycle: Lifecycle;
}

/** Read operations of a deprecated route by the value of the query parameter that selects one. */
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

/** Deprecated routes (`docs/contract/reads.md#deprecated-aliases`). */
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

const titleEndings = { v1: '', permalink: ' (permalink)', alias: ' (deprecated)' } as const;

/** Returns a name such as `Get a post`. Routes of other surfaces than v1 have an ending. */
export function nameRoute({ read, surface }: Route): string {
  const title = typeof read === 'string' ? allReads[read].title : 'Get a profile, list or search';
  return `${title}${titleEndings[surface]}`;
}

export function summarizeRoute({ read }: Route): string {
  return typeof read === 'string'
    ? allReads[read].summary
    : `Reads the resource in the parameter \`${read.parameter}\`.`;
}

/** Returns the v1 route of an operation. Throws Error if there is none. */
export function findVersioned(read: AnyReadId): ReadRoute | HistoryRoute {
  const route = ownRoutes.find((row) => row.surface === 'v1' && row.read === read);
  if (route === undefined) throw new Error(`The read ${read} has no row in v1.`);
  return route;
}

/** Returns whether a route evaluates API keys: profiles, account lists, searches and histories. */
export function isBrowseRoute({ read }: Route): boolean {
  const possible = typeof read === 'string' ? [read] : Object.values(read.reads);
  return possible.some((id) => allReads[id].isBrowse);
}

/** Returns the quota group of a route: `browse` or `post`. */
export function surfaceOf(route: Route): AllowanceSurface {
  return isBrowseRoute(route) ? 'browse' : 'post';
}

const closedPath = /^\/(?:docs(?:\/(?:(?:api|assets)\/)?[^/]*)?|favicon\.ico|mcp)?$/;

/** Returns whether a URL (path and query) belongs to a route that rejects cross-origin requests. */
export function isClosedPath(url: string): boolean {
  return isAdminPath(url) || closedPath.test(url.split('?', 1)[0] ?? '');
}

/** Returns whether browsers get HTML errors at a path (`docs/contract/reads.md#errors`). */
export function hasErrorPages(path: string): boolean {
  return /^\/(?:$|(?:docs|admin)(?:\/|$))/.test(path);
}

/** Returns whether a URL is an admin route or `/metrics`; both reject cross-origin requests. */
export function isAdminPath(url: string): boolean {
  return /^\/(?:(?:api\/)?admin(?:\/|$)|metrics$)/.test(toPath(url));
}

/** Returns the path of a URL (path and query). Percent-decodes only valid UTF-8. */
export function toPath(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path.replaceAll(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded; // not UTF-8, so it matches no route
    }
  });
}

/** Path in Fastify's syntax (`:handle`), and the original pattern with `{handle}`. */
export type RouterPath = Readonly<{ url: string; pattern: PathPattern }>;

/** Returns a route's paths in Fastify's syntax (`:handle`). */
export function listRouterPaths(route: Route): readonly RouterPath[] {
  if (route.surface === 'alias') return [{ url: route.path, pattern: route }];
  const paths = [route, ...(route.also ?? [])].flatMap((pattern) => {
    const url = toRouterPath(pattern);
    const urls = url.endsWith('/*') ? [url.slice(0, -2), url] : [url];
    return urls.map((path) => ({ url: path, pattern }));
  });
  // The main path of a route is also the start of its first form with further segments.
  return [...new Map(paths.toReversed().map((path) => [path.url, path])).values()];
}

/** Converts `{handle}` to `:handle`, with the handle's pattern unless it is the first segment. */
export function toRouterPath({ path, handles }: PathPattern): string {
  // The router would prefer a first segment with an expression to paths such as
  // `/:handle/followers`.
  const isFree = handles === undefined || path.startsWith('/{handle}');
  return path
    .replace('{handle}', isFree ? ':handle' : `:handle(^.*${handles.source}.*$)`)
    .replace('{number}', ':number(^\\d+$)')
    .replaceAll(/\{(\w+)\}/g, ':$1');
}

/**
 * Returns the read operation that a request to a deprecated route selects.
 * @throws Problem `invalid_resource` or `invalid_option` if it does not select one operation;
 *   `invalid_handle` if a required handle is missing
 */
export function chooseRead(route: AliasRoute, query: ParsedUrlQuery): ReadId {
  const read = findRead(route, query) ?? refuseChoice(route, query);
  // In v1 the handle is part of the path, so the operation's parser does not report a missing
  // handle.
  if (findVersioned(read).path.includes('{handle}') && query.handle === undefined) {
    const detail = 'The parameter `handle` is missing.';
    throw new Problem('invalid_handle', { detail });
  }
  return read;
}

/** Returns the operation that a request to a deprecated route selects; `null` if invalid. */
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
    throw new Problem('invalid_option', { detail, param: read.parameter });
  }
  const fault = value === undefined ? 'is missing' : `has the value ${quoteInput(value)}`;
  const names = Object.keys(read.reads).map((word) => `\`${word}\``);
  const words = `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
  const suggestion = suggestChoice(value, Object.keys(read.reads));
  throw new Problem('invalid_resource', {
    detail: `${name} ${fault}. It must be ${words}.${suggestion}`,
  });
}

/** Returns the supported query parameters; drops all others. */
export function pickParameters(read: ReadId, query: ParsedUrlQuery): ParsedUrlQuery {
  const { shape } = reads[read].params;
  return Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(shape, name)));
}
