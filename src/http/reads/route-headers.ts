import type { FastifyRequest } from 'fastify';
import type { Waiting } from '../../fetching/cost.ts';
import { isPermalinkHandle } from '../../reads/addresses/reserved-names.ts';
import { corsHeaders } from '../../web/cors.ts';
import type { Headers } from '../../web/headers.ts';
import { privateCaching, type ReplyOptions } from '../../web/reply.ts';
import type { Identification, Identity } from '../key-status/identity.ts';
import { toLifecycleHeaders } from '../lifecycle/lifecycle.ts';
import { aliasRoutes, isBrowseRoute, isClosedPath, type Route, routes, toPath } from './routes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, once it is known; null before, and where nobody is asked. */
    identity: Identity | null;
  }

  interface FastifyContextConfig {
    /** Gives the headers that every reply of the route has, also the problems. */
    describe?: (request: FastifyRequest) => Headers;
  }
}

/** What the replies of a route say beside what was read. */
export interface RouteHeaders {
  /** Returns the caller's identity, established once for each request. */
  identityOf(request: FastifyRequest): Identity;
  /** Returns the caller as one that waits for an answer. */
  waitingOf(request: FastifyRequest): Waiting;
  /** Gives what a reply that was read has beside the read's own headers. */
  ownOf(request: FastifyRequest): ReplyOptions;
  /** Gives the headers of every other reply: problems, preflights, a HEAD that reads nothing. */
  describe(request: FastifyRequest): Headers;
}

/** What the headers of routes are made with. */
export interface RouteHeadersOptions {
  readonly identification: Identification;
  /** Perch's own address, without a trailing slash. */
  readonly baseUrl: string;
}

/** Creates the headers of a row of the route table. */
export function createRouteHeaders(
  route: Route,
  { identification, baseUrl }: RouteHeadersOptions,
): RouteHeaders {
  const surface = isBrowseRoute(route) ? 'browse' : 'post';
  const identityOf = (request: FastifyRequest) => {
    request.identity ??= identification.identify(request, surface);
    return request.identity;
  };
  const lifecycleOf = ({ raw }: FastifyRequest) =>
    toLifecycleHeaders(route, raw.url ?? '', baseUrl);
  return {
    identityOf,
    waitingOf: (request) => ({
      caller: identityOf(request).caller,
      // Made when they are read, which a stale answer does not do.
      get signal() {
        return request.signal;
      },
      get client() {
        return identification.clientOf(request);
      },
    }),
    ownOf: (request) => {
      const { isPrivate, headers } = identityOf(request);
      const lifecycle = lifecycleOf(request);
      if (lifecycle === null) return { isPrivate, headers: headers(), link: null };
      const { link, ...dates } = lifecycle;
      return { isPrivate, headers: [...headers(), ...Object.entries(dates).flat()], link };
    },
    describe: (request) => {
      const { isPrivate, headers } = identityOf(request);
      return {
        ...(surface === 'browse' ? { vary: 'Accept, Authorization' } : {}),
        ...(isPrivate ? { 'cache-control': privateCaching } : {}),
        ...toRecord(headers()),
        ...lifecycleOf(request),
      };
    },
  };
}

/**
 * Gives the headers that the table promises for a path and query, where nothing else is known of the
 * request: it never became one.
 */
export function describeRefused(url: string, baseUrl: string): Headers {
  const path = toPath(url);
  const route = aliasRoutes.find((row) => row.path === path);
  const lifecycle = route === undefined ? null : toLifecycleHeaders(route, url, baseUrl);
  return { ...(isClosedPath(url) ? {} : corsHeaders), ...lifecycle };
}

/**
 * Creates the headers of what the router refuses for its path (broken percent-encoding): those of the
 * row that the path would lead to, so that a presented key is answered as everywhere.
 */
export function createUnroutedHeaders(
  options: RouteHeadersOptions,
): (request: FastifyRequest) => Headers {
  const rows = [...routes]
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length)
    .map((row) => ({ pattern: toPattern(row), headers: createRouteHeaders(row, options) }));
  return (request) => {
    const { url = '' } = request.raw;
    const path = toPath(url);
    const row = rows.find(({ pattern }) => pattern.test(path));
    const isRead = path.startsWith('/api/') || isPermalinkHandle(path.split('/')[1] ?? '');
    if (row !== undefined && isRead) return { ...corsHeaders, ...row.headers.describe(request) };
    return isClosedPath(url) ? {} : corsHeaders;
  };
}

function toPattern({ path, surface }: Route): RegExp {
  const end = surface === 'permalink' ? '/?' : '';
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}${end}$`);
}

function toRecord(list: readonly string[]): Headers {
  const pairs = list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1]]] : []));
  return Object.fromEntries(pairs);
}
