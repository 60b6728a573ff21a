import type { FastifyRequest } from 'fastify';
import { isPermalinkHandle } from '../../reads/addresses/match-path.ts';
import { corsHeaders } from '../../web/cors.ts';
import type { Headers } from '../../web/headers.ts';
import { type Identification, toKeyHeaders } from '../key-status/plugin.ts';
import { toLifecycleHeaders } from '../lifecycle/lifecycle.ts';
import { aliasRoutes, isClosedPath, type Route, routes, surfaceOf, toPath } from './routes.ts';

/** Returns the headers that the route table promises for a path and query that never became a request. */
export function describeRefused(url: string, baseUrl: string): Headers {
  const path = toPath(url);
  const route = aliasRoutes.find((row) => row.path === path);
  const lifecycle = route === undefined ? null : toLifecycleHeaders(route, url, baseUrl);
  return { ...(isClosedPath(url) ? {} : corsHeaders), ...lifecycle };
}

/** Creates the headers of requests with broken percent-encoding, for which Fastify runs no hooks: those of their row. */
export function createUnroutedHeaders(identification: Identification, baseUrl: string) {
  const rows = routes
    .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)
    .map((row) => ({ row, pattern: toPattern(row) }));
  return (request: FastifyRequest): Headers => {
    const { url = '' } = request.raw;
    const path = toPath(url);
    const row = rows.find(({ pattern }) => pattern.test(path))?.row;
    const isRead = path.startsWith('/api/') || isPermalinkHandle(path.split('/')[1] ?? '');
    if (row === undefined || !isRead) return isClosedPath(url) ? {} : corsHeaders;
    const identity = identification.identify(request, surfaceOf(row));
    return {
      ...corsHeaders,
      ...(identity.variesByKey ? { vary: 'Accept, Authorization' } : {}),
      ...toKeyHeaders(identity),
      ...toLifecycleHeaders(row, url, baseUrl),
    };
  };
}

function toPattern({ path, surface }: Route): RegExp {
  const end = surface === 'permalink' ? '/?' : '';
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}${end}$`);
}
