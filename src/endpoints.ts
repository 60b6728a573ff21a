import type { Endpoint } from './core/endpoint.ts';
import { adminKeysEndpoints } from './http/admin-keys-endpoints.ts';
import { discoveryEndpoints } from './http/discovery-endpoints.ts';
import { healthEndpoints } from './http/health-endpoints.ts';
import { openApiEndpoints } from './http/openapi-endpoints.ts';
import { docsEndpoints } from './http/pages/endpoints.ts';
import { frontEndpoints } from './http/pages/front-endpoints.ts';
import { mcpEndpoints } from './mcp/endpoints.ts';

/** Every route beside the reads, of all surfaces, in the order in which descriptions list them. */
export const endpoints: readonly Endpoint[] = [
  ...mcpEndpoints,
  ...discoveryEndpoints,
  ...openApiEndpoints,
  ...frontEndpoints,
  ...docsEndpoints,
  ...healthEndpoints,
  ...adminKeysEndpoints,
];
