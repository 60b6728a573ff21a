import type { ParsedUrlQuery } from 'node:querystring';
import { type Lifecycle, scheduledLifecycle } from '../../core/lifecycle.ts';
import { Problem, quoteInput } from '../../core/problem.ts';
import { type OwnForm, ownForms, type PathForm } from '../../reads/addresses/address-forms.ts';
import { type AnyReadId, allReads, type ReadId, reads } from '../../reads/index.ts';
import type { AllowanceSurface } from '../key-status/plugin.ts';

interface OwnRoute extends OwnForm {
  readonly lifecycle: Lifecycle | null;
}

export type ReadRoute = OwnRoute & { readonly read: ReadId };

/** A row at which a range of posts is imported, as a stream if the caller asks for one. */
export type HistoryRoute = OwnRoute & { readonly read: Exclude<AnyReadId, ReadId> };

/** An older path of a v1 read; its successor is the v1 row of that read. */
export interface AliasRoute {
  readonly id: string;
  readonly path: string;
  readonly read: ReadId | ReadChoice;
  readonly surface: 'alias';
  readonly lifecycle: Lifecycle;
}

export interface ReadChoice {
  readonly parameter: 'resource';
  readonly reads: Readonly<Record<string, ReadId>>;
}

export type Route = ReadRoute | HistoryRoute | AliasRoute;

const rows: readonly OwnRoute[] = ownForms.map((form) => ({ ...form, lifecycle: null }));

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

/** The deprecated aliases (`docs/contract/reads.md#deprecated-aliases`): the rows that v1 succeeds. */
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

/** The route table of the read service. */
export const routes: readonly Route[] = [
  ...ownRoutes.filter(({ surface }) => surface === 'v1'),
  ...ownRoutes.filter(({ surface }) => surface === 'permalink'),
  ...aliasRoutes,
];

/** Returns what a route reads, in a sentence. */
export function summarizeRoute({ read }: Route): string {
  return typeof read === 'string'
    ? allReads[read].summary
    : `Reads what the parameter \`${read.parameter}\` names.`;
}

/** Returns the row of the versioned surface that a read answers at. */
export function findVersioned(read: AnyReadId): ReadRoute | HistoryRoute {
  const route = ownRoutes.find((row) => row.surface === 'v1' && row.read === read);
  if (route === undefined) throw new Error(`The read ${read} has no row in v1.`);
  return route;
}

/** Returns whether a route can answer a browse read, so that keys are looked at. */
export function isBrowseRoute({ read }: Route): boolean {
  const possible = typeof read === 'string' ? [read] : Object.values(read.reads);
  return possible.some((id) => allReads[id].isBrowse);
}

/** Returns the allowance that requests to a route spend. */
export function surfaceOf(route: Route): AllowanceSurface {
  return isBrowseRoute(route) ? 'browse' : 'post';
}

/** The pages with their assets, and `/mcp`. */
const closedPath = /^\/(?:docs(?:\/(?:assets\/)?[^/]*\/?)?|mcp)?$/;

/** Returns whether a path and query belongs to a surface that is closed to pages of other origins. */
export function isClosedPath(url: string): boolean {
  return isAdminPath(url) || closedPath.test(url.split('?', 1)[0] ?? '');
}

/** Returns whether a path and query is the operator's, which is closed to pages of other origins. */
export function isAdminPath(url: string): boolean {
  return /^\/(?:(?:api\/)?admin(?:\/|$)|metrics$)/.test(toPath(url));
}

/** Returns the path that a request target means (RFC 9112 §3.2.2): without host and query, decoded as far as it can be. */
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

export interface RouterPath {
  readonly url: string;
  readonly form: PathForm;
}

/** Returns the paths of a row in the router's notation (`:handle`). A permalink answers with a slash at its end too. */
export function listRouterPaths(route: Route): readonly RouterPath[] {
  if (route.surface === 'alias') return [{ url: route.path, form: route }];
  const ends = route.surface === 'permalink' ? ['', '/'] : [''];
  return [route, ...(route.also ?? [])].flatMap((form) =>
    ends.map((end) => ({ url: `${toRouterPath(form)}${end}`, form })),
  );
}

/** The router looks at the form of a later handle, because `/profile/{handle}` fits `/{handle}/followers` as well. */
function toRouterPath({ path, handles }: PathForm): string {
  const isFirst = path.startsWith('/{handle}');
  const form = handles === undefined || isFirst ? '' : `(^.*${handles.source}.*$)`;
  return path.replace('{handle}', `:handle${form}`).replaceAll(/\{(\w+)\}/g, ':$1');
}

/**
 * Returns the read that a request to an alias asks for.
 *
 * @throws Problem `invalid_resource` or `invalid_option` if the parameter does not name one read, `invalid_handle` if
 *   the read is of an account and none is named
 */
export function chooseRead(route: AliasRoute, query: ParsedUrlQuery): ReadId {
  const read = findRead(route, query) ?? refuseChoice(route, query);
  // In v1 it stands in the path and cannot be missing.
  if (findVersioned(read).path.includes('{handle}') && query.handle === undefined) {
    const detail = 'The parameter `handle` is missing; it takes the handle of an account.';
    throw new Problem('invalid_handle', { detail });
  }
  return read;
}

/** Returns the read that a request to an alias names, or `null`. */
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
    const detail = `${name} is given more than once; it takes one value.`;
    throw new Problem('invalid_option', { detail });
  }
  const fault = value === undefined ? 'is missing' : `has the value ${quoteInput(value)}`;
  const words = Object.keys(read.reads).map((word) => `\`${word}\``);
  const taken = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  throw new Problem('invalid_resource', { detail: `${name} ${fault}; it takes ${taken}.` });
}

/** Returns the parameters that an alias passes on: those that the read knows. */
export function pickParameters(read: ReadId, query: ParsedUrlQuery): ParsedUrlQuery {
  const { shape } = reads[read].params;
  return Object.fromEntries(Object.entries(query).filter(([name]) => Object.hasOwn(shape, name)));
}
