import { type Lifecycle, scheduledLifecycle } from '../core/lifecycle.ts';
import { type AnyReadId, allReads, type ReadId } from '../reads/index.ts';

/** What every row of the route table says. */
interface Row {
  /** The operation id of the machine description. */
  readonly id: string;
  /** With parameters in braces: the read's own, and `n`, the number of a photo or video. */
  readonly path: string;
  /** Null where nothing is scheduled. */
  readonly lifecycle: Lifecycle | null;
}

/** A path that one read answers at. */
export interface ReadRoute extends Row {
  readonly read: ReadId;
  /** `v1`: the versioned machine surface; `permalink`: the paths of the original platform. */
  readonly surface: 'v1' | 'permalink';
}

/** A path at which a range of posts is imported, as it comes where the caller likes. */
export interface HistoryRoute extends Row {
  readonly read: Exclude<AnyReadId, ReadId>;
  readonly surface: 'v1' | 'permalink';
}

/** An older path of what v1 reads. Its successor is the v1 row with the same read. */
export interface AliasRoute extends Row {
  readonly read: ReadId | ReadChoice;
  readonly surface: 'alias';
  readonly lifecycle: Lifecycle;
}

/** A parameter whose value names the read. */
export interface ReadChoice {
  readonly parameter: 'resource';
  readonly reads: Readonly<Record<string, ReadId>>;
}

/** A row of the route table. */
export type Route = ReadRoute | HistoryRoute | AliasRoute;

/** The rows of the route table that one read answers at. */
export const readRoutes: readonly ReadRoute[] = [
  { id: 'getPost', path: '/api/v1/posts', read: 'getPost', surface: 'v1', lifecycle: null },
  {
    id: 'getProfile',
    path: '/api/v1/profiles/{handle}',
    read: 'getProfile',
    surface: 'v1',
    lifecycle: null,
  },
  {
    id: 'listFollowers',
    path: '/api/v1/profiles/{handle}/followers',
    read: 'listFollowers',
    surface: 'v1',
    lifecycle: null,
  },
  {
    id: 'listFollowing',
    path: '/api/v1/profiles/{handle}/following',
    read: 'listFollowing',
    surface: 'v1',
    lifecycle: null,
  },
  {
    id: 'searchPosts',
    path: '/api/v1/search',
    read: 'searchPosts',
    surface: 'v1',
    lifecycle: null,
  },
  { id: 'getOEmbed', path: '/api/v1/oembed', read: 'getOEmbed', surface: 'v1', lifecycle: null },
  {
    id: 'getPostByPermalink',
    path: '/{handle}/status/{id}',
    read: 'getPost',
    surface: 'permalink',
    lifecycle: null,
  },
  {
    id: 'getPostPhotoByPermalink',
    path: '/{handle}/status/{id}/photo/{n}',
    read: 'getPost',
    surface: 'permalink',
    lifecycle: null,
  },
  {
    id: 'getPostVideoByPermalink',
    path: '/{handle}/status/{id}/video/{n}',
    read: 'getPost',
    surface: 'permalink',
    lifecycle: null,
  },
  {
    id: 'getProfileByHandle',
    path: '/{handle}',
    read: 'getProfile',
    surface: 'permalink',
    lifecycle: null,
  },
  {
    id: 'listFollowersByHandle',
    path: '/{handle}/followers',
    read: 'listFollowers',
    surface: 'permalink',
    lifecycle: null,
  },
  {
    id: 'listFollowingByHandle',
    path: '/{handle}/following',
    read: 'listFollowing',
    surface: 'permalink',
    lifecycle: null,
  },
  {
    id: 'searchByPath',
    path: '/search',
    read: 'searchPosts',
    surface: 'permalink',
    lifecycle: null,
  },
  {
    id: 'getOEmbedByPath',
    path: '/oembed',
    read: 'getOEmbed',
    surface: 'permalink',
    lifecycle: null,
  },
];

/** The rows at which histories are imported. */
export const historyRoutes: readonly HistoryRoute[] = [
  {
    id: 'importProfilePosts',
    path: '/api/v1/profiles/{handle}/posts',
    read: 'importProfilePosts',
    surface: 'v1',
    lifecycle: null,
  },
  {
    id: 'importProfilePostsByHandle',
    path: '/{handle}/posts',
    read: 'importProfilePosts',
    surface: 'permalink',
    lifecycle: null,
  },
];

/** Tells whether a row is one of those at which histories are imported. */
export function isHistoryRoute(route: Route): route is HistoryRoute {
  return route.read === 'importProfilePosts';
}

/** The deprecated aliases: the rows that v1 succeeds (spec: Deprecated aliases). */
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

/** THE route table of the read service. */
export const routes: readonly Route[] = [...rowsOf('v1'), ...rowsOf('permalink'), ...aliasRoutes];

function rowsOf(surface: ReadRoute['surface']): readonly Route[] {
  return [...readRoutes, ...historyRoutes].filter((row) => row.surface === surface);
}

/** Says in a sentence what a route reads. */
export function summarizeRoute({ read }: Route): string {
  return typeof read === 'string'
    ? allReads[read].summary
    : `Reads what the parameter \`${read.parameter}\` names.`;
}

/** Gives the row of the versioned surface that a read answers at. */
export function findVersioned(read: AnyReadId): ReadRoute | HistoryRoute {
  const rows = [...readRoutes, ...historyRoutes];
  const route = rows.find((row) => row.surface === 'v1' && row.read === read);
  if (route === undefined) throw new Error(`The read ${read} has no row in v1.`);
  return route;
}

/** Tells whether a route can answer a browse read, so that keys are looked at (spec: Authentication, 7). */
export function isBrowseRoute({ read }: Route): boolean {
  const possible = typeof read === 'string' ? [read] : Object.values(read.reads);
  return possible.some((id) => allReads[id].isBrowse);
}

/** First path segments that the service keeps for itself, so that they are no handles there. */
const reservedNames: ReadonlySet<string> = new Set([
  '.well-known',
  'admin',
  'api',
  'docs',
  'health',
  'mcp',
  'metrics',
  'oembed',
  'search',
  'svc',
]);

/** Endings of files that clients ask for by themselves, such as `/favicon.ico`. */
const fileEnding =
  /\.(?:avif|css|gif|html?|ico|jpe?g|js|json|map|pdf|php|png|svg|txt|webmanifest|webp|woff2?|xml)$/i;

/** Tells whether the service keeps a first path segment, in lower case, for itself. */
export function isReservedName(segment: string): boolean {
  return reservedNames.has(segment);
}

/** Tells whether a first path segment can be a handle on the permalink surface (decisions §3). */
export function isPermalinkHandle(segment: string): boolean {
  const name = segment.replace(/^@/, '').toLowerCase();
  return name !== '' && !isReservedName(name) && !fileEnding.test(name);
}

/** The pages with their assets, and `/mcp`. */
const closedPath = /^\/(?:docs(?:\/(?:assets\/)?[^/]*\/?)?|mcp)?$/;

/** Returns whether a path and query belongs to a surface that is closed to pages of other origins. */
export function isClosedPath(url: string): boolean {
  return isAdminPath(url) || closedPath.test(url.split('?', 1)[0] ?? '');
}

/** Tells whether a path and query is the operator's: pages of other origins have no business there. */
export function isAdminPath(url: string): boolean {
  return /^\/(?:(?:api\/)?admin(?:\/|$)|metrics$)/.test(toPath(url));
}

/**
 * Gives the path that a request target means: without a scheme and host (RFC 9112 §3.2.2) and a query,
 * decoded as far as it can be.
 */
export function toPath(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').split('?', 1)[0] ?? '';
  return path.replaceAll(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded; // no UTF-8: no name of ours
    }
  });
}

/** Gives a path of the table in the router's notation: `{handle}` becomes `:handle`. */
export function toRouterPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
