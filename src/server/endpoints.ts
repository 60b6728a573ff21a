import type { Config } from '../config/config.ts';
import { adminDescriptionRoutes, adminKeysRoutes } from '../routes/admin/admin-plugin.ts';
import { connectionRoutes } from '../routes/admin/connection.ts';
import { actorRoutes } from '../routes/discovery/actor-plugin.ts';
import { discoveryRoutes } from '../routes/discovery/documents.ts';
import { mcpRoutes } from '../routes/mcp/plugin.ts';
import { copiesRoutes } from '../routes/media/copies-plugin.ts';
import { pictureRoutes } from '../routes/media/proxy-plugin.ts';
import { livenessRoutes, metricsRoutes, readinessRoutes } from '../routes/monitoring/probes.ts';
import { askRoutes, assetRoutes, docsRoutes, frontRoutes } from '../routes/pages/endpoints.ts';
import { addressRoutes } from '../routes/reads/address-route.ts';
import { feedRedirectRoutes } from '../routes/reads/feed-redirects.ts';
import { opmlRoutes } from '../routes/reads/opml-route.ts';
import { routes } from '../routes/reads/routes.ts';
import type { Endpoint } from '../routes/route.ts';
import { listSessionRoutes } from '../sessions/http/endpoints.ts';

/** Public routes in the order of `/api`, except reads, sessions, `/docs/ask` and pictures. */
export const endpoints: readonly Endpoint[] = [
  opmlRoutes,
  addressRoutes,
  feedRedirectRoutes,
  copiesRoutes,
  mcpRoutes,
  discoveryRoutes,
  frontRoutes,
  docsRoutes,
  assetRoutes,
  livenessRoutes,
  readinessRoutes,
].flatMap((declared) => Object.values<Endpoint>(declared));

/** Routes for the operator, which `/api/admin/openapi.json` describes. */
export const adminEndpoints: readonly Endpoint[] = [
  adminKeysRoutes,
  connectionRoutes,
  metricsRoutes,
  adminDescriptionRoutes,
].flatMap((declared) => Object.values<Endpoint>(declared));

/** Returns the paths of all public routes outside the documentation, with parameters in braces. */
export function listPaths(sessionSegment: string | null): readonly string[] {
  const reads = routes.flatMap((route) => [
    route.path,
    ...('also' in route ? (route.also ?? []).map(({ path }) => path) : []),
  ]);
  const others = listEndpoints(sessionSegment).map(({ path }) => path);
  return [...reads, ...others].filter((path) => !/^\/(?:$|docs|https:)/.test(path));
}

type Optional = Readonly<Pick<Config, 'PERCH_MEDIA'> & Partial<Pick<Config, 'PERCH_ACTOR'>>>;

/** Returns public routes except reads; without sessions if `sessionSegment` is `null`. */
export function listEndpoints(
  sessionSegment: string | null,
  { PERCH_MEDIA: media, PERCH_ACTOR: hasActor }: Optional = { PERCH_MEDIA: 'proxy' },
): readonly Endpoint[] {
  return [
    ...endpoints,
    ...(media === 'proxy' ? Object.values(pictureRoutes) : []),
    ...(hasActor ? Object.values(actorRoutes) : []),
    ...(sessionSegment === null ? [] : Object.values(askRoutes)),
    ...(sessionSegment === null ? [] : listSessionRoutes(sessionSegment)),
  ];
}
