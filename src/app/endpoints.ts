import type { Endpoint } from '../core/endpoint.ts';
import { adminDescriptionEndpoints } from '../http/admin/admin-plugin.ts';
import { connectionEndpoints } from '../http/admin/connection.ts';
import { adminKeysEndpoints } from '../http/admin/keys.ts';
import { discoveryEndpoints } from '../http/discovery/documents.ts';
import { pictureEndpoints } from '../http/media/proxy-plugin.ts';
import { healthEndpoints, metricsEndpoints } from '../http/operations/probes.ts';
import { askEndpoints, docsEndpoints, frontEndpoints } from '../http/pages/endpoints.ts';
import { addressEndpoints } from '../http/reads/address-route.ts';
import { mcpEndpoints } from '../mcp/endpoints.ts';
import { describeSessionEndpoints } from '../sessions/http/endpoints.ts';

/** Public routes except read routes (`http/reads/routes.ts`), session routes and `/docs/ask`, in the order of `/api`. */
export const endpoints: readonly Endpoint[] = [
  ...addressEndpoints,
  ...mcpEndpoints,
  ...discoveryEndpoints,
  ...frontEndpoints,
  ...docsEndpoints,
  ...pictureEndpoints,
  ...healthEndpoints,
];

/** Routes for the operator, which `/api/admin/openapi.json` describes. */
export const adminEndpoints: readonly Endpoint[] = [
  ...adminKeysEndpoints,
  ...connectionEndpoints,
  ...metricsEndpoints,
  ...adminDescriptionEndpoints,
];

/** Returns all public routes except read routes. `sessionSegment`: path prefix of session routes; `null` omits them. */
export function listEndpoints(sessionSegment: string | null): readonly Endpoint[] {
  if (sessionSegment === null) return endpoints;
  return [...endpoints, ...askEndpoints, ...describeSessionEndpoints(sessionSegment)];
}
