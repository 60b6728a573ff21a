import { type JsonSchema, toReplySchemas } from '../../lib/json-schema.ts';
import type { Endpoint } from '../../web/route.ts';
import { describeSecurity } from './access.ts';
import { describeBodyParts, describeEndpointPaths, listReplySchemas } from './endpoint-paths.ts';
import { nameExamples, type RecordedExamples } from './examples.ts';
import { describedHeaders } from './headers.ts';
import { describeProblemCodes, problemReply } from './problems.ts';
import { keepUsedComponents } from './used-components.ts';

export interface AdminApiFacts {
  readonly baseUrl: string;
  readonly version: string;
  readonly endpoints: readonly Endpoint[];
  readonly examples: RecordedExamples;
}

/** Returns the OpenAPI description of the operator's routes, which the public one omits. */
export function describeAdminApi({
  baseUrl,
  version,
  endpoints,
  examples: recorded,
}: AdminApiFacts): JsonSchema {
  const examples = nameExamples(recorded);
  const document = {
    openapi: '3.1.1',
    info: {
      title: 'Perch admin API',
      version,
      summary: 'Manages API keys and reads metrics.',
      description:
        'For the operator of the server. Every request needs the admin token. The routes can change with any release.',
      contact: { name: 'The operator of this server', url: `${baseUrl}/docs/admin` },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: [{ name: 'operator', description: 'For the operator of the server.' }],
    security: [],
    'x-problem-codes': describeProblemCodes(baseUrl),
    paths: describeEndpointPaths(endpoints, examples),
  };
  const components = {
    schemas: {
      ...toReplySchemas([problemReply, ...listReplySchemas(endpoints)]),
      ...describeBodyParts(endpoints),
    },
    headers: describedHeaders,
    examples,
  };
  const securitySchemes = describeSecurity(endpoints.map(({ access }) => access));
  return {
    ...document,
    components: { ...keepUsedComponents(document, components), securitySchemes },
  };
}
