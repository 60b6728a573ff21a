import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import {
  accepts,
  permalinkPatterns,
  readOfKind,
  toOwnPath,
} from '../../reads/addresses/own-paths.ts';
import { handleParam } from '../../reads/list.ts';
import { routeNotFound } from '../problems.ts';
import { type Endpoint, route } from '../route.ts';
import { toParameters } from './read-routes.ts';
import { toRouterPath } from './routes.ts';

const ids: Readonly<Record<string, string>> = {
  '/{handle}/rss': 'redirectProfileFeed',
  '/{handle}/with_replies/rss': 'redirectRepliesFeed',
  '/{handle}/media/rss': 'redirectMediaFeed',
  '/search/rss': 'redirectSearchFeed',
};

const feedPaths = permalinkPatterns.flatMap((pattern) => {
  const path = `${pattern.path}/rss`;
  const id = ids[path];
  return id === undefined ? [] : [{ id, path, pattern }];
});

export const feedRedirectRoutes: readonly Endpoint[] = feedPaths.map(({ id, path }) => ({
  id,
  method: 'GET',
  path,
  tag: 'permalink',
  topic: 'feeds',
  title: 'Get a feed at its path on Nitter',
  summary: 'Redirects the path of a feed on Nitter to the same feed on this server.',
  description:
    'To move the subscriptions of a feed reader from Nitter to this server, replace only the host. The parameters are those of the feed.',
  parameters: path.includes('{handle}')
    ? { path: z.object({ handle: handleParam.meta({ examples: ['ada.example'] }) }) }
    : {},
  replies: [
    {
      status: 301,
      description: 'The feed is at the URL in `Location`.',
      headers: { Location: { description: 'URL of the feed.' } },
    },
  ],
  problems: ['route_not_found'],
  access: 'open',
}));

/** Registers redirects from the feed paths of Nitter. */
export async function feedRedirectsPlugin(
  app: FastifyInstance,
  { baseUrl }: { readonly baseUrl: string },
): Promise<void> {
  for (const { path, pattern } of feedPaths) {
    const isRoute = ({ params }: FastifyRequest) =>
      accepts({ surface: 'permalink' }, pattern, params as Readonly<Record<string, string>>);
    const redirect = (request: FastifyRequest, reply: FastifyReply) => {
      if (!isRoute(request)) throw routeNotFound(request);
      const given = { ...toParameters(pattern, request), format: 'rss' };
      const target = toOwnPath({ read: readOfKind[pattern.names], given }, 'permalink');
      reply.header('cache-control', 'public, max-age=86400');
      return reply.redirect(`${baseUrl}${target}`, 301);
    };
    route(app, toRouterPath({ ...pattern, path }), { GET: redirect }, { isRoute });
  }
}
