import type { Endpoint } from '../core/endpoint.ts';
import { adminKeysEndpoints } from '../http/admin/keys.ts';
import { discoveryEndpoints } from '../http/discovery/documents.ts';
import { healthEndpoints, metricsEndpoints } from '../http/operations/probes.ts';
import { askEndpoints, docsEndpoints, frontEndpoints } from '../http/pages/endpoints.ts';
import { addressEndpoints } from '../http/reads/address-route.ts';
import { mcpEndpoints } from '../mcp/endpoints.ts';
import { describeSessionEndpoints } from '../sessions/http/endpoints.ts';

/** All routes except those that read posts and those of sessions, in the order of `/api` and the OpenAPI document. */
export const endpoints: readonly Endpoint[] = [
  ...addressEndpoints,
  ...mcpEndpoints,
  ...discoveryEndpoints,
  ...frontEndpoints,
  ...docsEndpoints,
  ...healthEndpoints,
  ...adminKeysEndpoints,
  ...metricsEndpoints,
];

/** Returns all routes except those that read posts. `sessionSegment`: path prefix of sessions; `null` if disabled. */
export function listEndpoints(sessionSegment: string | null): readonly Endpoint[] {
  if (sessionSegment === null) return endpoints;
  return [...endpoints, ...askEndpoints, ...describeSessionEndpoints(sessionSegment)];
}
