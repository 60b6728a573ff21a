import type { Endpoint } from '../core/endpoint.ts';
import { adminKeysEndpoints } from '../http/admin/keys-endpoints.ts';
import { discoveryEndpoints } from '../http/discovery/documents.ts';
import { healthEndpoints } from '../http/operations/health.ts';
import { metricsEndpoints } from '../http/operations/metrics.ts';
import { askEndpoints, docsEndpoints, frontEndpoints } from '../http/pages/endpoints.ts';
import { addressEndpoints } from '../http/reads/address-endpoints.ts';
import { mcpEndpoints } from '../mcp/endpoints.ts';
import { describeSessionEndpoints } from '../sessions/http/endpoints.ts';

/** Lists every route beside the reads. `sessionSegment` is `null` on a server without sessions. */
export function listEndpoints(sessionSegment: string | null): readonly Endpoint[] {
  return sessionSegment === null
    ? endpoints
    : [...endpoints, ...askEndpoints, ...describeSessionEndpoints(sessionSegment)];
}

/** Every route beside the reads and the sessions, in the order in which descriptions list them. */
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
