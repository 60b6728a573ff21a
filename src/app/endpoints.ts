import type { Config } from '../config/config.ts';
import type { Endpoint } from '../core/endpoint.ts';
import { adminDescriptionEndpoints } from '../http/admin/admin-plugin.ts';
import { connectionEndpoints } from '../http/admin/connection.ts';
import { adminKeysEndpoints } from '../http/admin/keys.ts';
import { discoveryEndpoints } from '../http/discovery/documents.ts';
import { copiesEndpoints } from '../http/media/copies-endpoints.ts';
import { pictureEndpoints } from '../http/media/proxy-plugin.ts';
import { healthEndpoints, metricsEndpoints } from '../http/operations/probes.ts';
import { askEndpoints, docsEndpoints, frontEndpoints } from '../http/pages/endpoints.ts';
import { addressEndpoints } from '../http/reads/address-route.ts';
import { feedRedirectEndpoints } from '../http/reads/feed-redirects.ts';
import { opmlEndpoint } from '../http/reads/opml-route.ts';
import { routes } from '../http/reads/routes.ts';
import { mcpEndpoints } from '../mcp/endpoints.ts';
import { describeSessionEndpoints } from '../sessions/http/endpoints.ts';

/** Public routes in the order of `/api`, except reads, sessions, `/docs/ask` and pictures. */
export const endpoints: readonly Endpoint[] = [
  opmlEndpoint,
  ...addressEndpoints,
  ...feedRedirectEndpoints,
  ...copiesEndpoints,
  ...mcpEndpoints,
  ...discoveryEndpoints,
  ...frontEndpoints,
  ...docsEndpoints,
  ...healthEndpoints,
];

/** Routes for the operator, which `/api/admin/openapi.json` describes. */
export const adminEndpoints: readonly Endpoint[] = [
  ...adminKeysEndpoints,
  ...connectionEndpoints,
  ...metricsEndpoints,
  ...adminDescriptionEndpoints,
];

/** Returns the paths of all public routes outside the documentation, with parameters in braces. */
export function listPaths(sessionSegment: string | null): readonly string[] {
  const reads = routes.flatMap((route) => [
    route.path,
    ...('also' in route ? (route.also ?? []).map(({ path }) => path) : []),
  ]);
  const others = listEndpoints(sessionSegment).map(({ path }) => path);
  return [...reads, ...others].filter((path) => !/^\/(?:$|docs|https:)/.test(path));
}

/** Returns public routes except reads; without sessions if `sessionSegment` is `null`. */
export function listEndpoints(
  sessionSegment: string | null,
  media: Config['PERCH_MEDIA'] = 'proxy',
): readonly Endpoint[] {
  const listed = media === 'proxy' ? [...endpoints, ...pictureEndpoints] : endpoints;
  if (sessionSegment === null) return listed;
  return [...listed, ...askEndpoints, ...describeSessionEndpoints(sessionSegment)];
}
