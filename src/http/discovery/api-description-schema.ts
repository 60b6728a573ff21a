import { z } from 'zod';

const describedRoute = z.object({
  operation_id: z.string(),
  method: z.string(),
  path: z.string(),
  also: z
    .array(z.string())
    .readonly()
    .optional()
    .describe('Other paths at which it answers, without an operation of their own.'),
  summary: z.string(),
  parameters: z.array(z.string()).readonly().describe('Their names, those of the path first.'),
  deprecated: z.boolean().optional(),
});

const surface = z.object({
  name: z.string().describe('Also a tag of `/openapi.json`.'),
  description: z.string(),
  routes: z.array(describedRoute).readonly(),
});

const describedDocument = z.object({
  url: z.url(),
  summary: z.string(),
  media_types: z.array(z.string()).readonly().describe('The first is the one for everybody.'),
});

const describedFormat = z.object({
  name: z.string().describe('The value of the parameter `format`.'),
  media_type: z.string(),
  reads: z.array(z.string()).readonly().describe('The operations of v1 that have it.'),
});

const allowance = z.object({
  policy: z.string().describe('Its name in `RateLimit-Policy`.'),
  units: z.number().int(),
  applies_to: z.string(),
});

const deprecatedAlias = z.object({
  path: z.string(),
  deprecation: z.string().describe('The value of the header `Deprecation`.'),
  sunset: z.string().describe('The value of the header `Sunset`.'),
  deprecation_iso: z.string(),
  sunset_iso: z.string(),
  state: z.enum(['current', 'announced', 'deprecated', 'past_sunset']),
  successor: z.string().optional().describe('The path that replaces it, where one does.'),
  successor_parameter: z.string().optional().describe('Else the parameter that names the path.'),
  successors: z.record(z.string(), z.string()).optional().describe('The path by its value.'),
});

/** The JSON document of `/api`. Its members are added to and never removed. */
export const apiIndex = z
  .object({
    name: z.string(),
    version: z.string(),
    description: z.string(),
    base_url: z.url(),
    documentation: z.record(z.string(), z.url()).describe('The pages, by name.'),
    documents: z.array(describedDocument).readonly().describe('What else describes the service.'),
    surfaces: z.array(surface).readonly(),
    formats: z.array(describedFormat).readonly(),
    authentication: z.object({
      required: z.boolean(),
      key: z.object({
        header: z.string(),
        scheme: z.string(),
        status_header: z.string(),
        surfaces: z.array(z.string()).readonly().describe('The paths that look at a key.'),
        request_url: z.string().describe('Where a human asks for one.'),
      }),
    }),
    limits: z.object({
      window_seconds: z.number().int(),
      allowances: z.array(allowance).readonly(),
      pool_upstream_requests: z.number().int().describe('For the browse reads of all callers.'),
      headers: z.array(z.string()).readonly(),
    }),
    errors: z.object({
      media_type: z.string(),
      documentation: z.url(),
      codes: z.record(z.string(), z.number().int()).describe('The status by the code.'),
    }),
    versioning: z.object({
      current: z.string(),
      base_path: z.string(),
      policy_url: z.url(),
      deprecated_aliases: z.array(deprecatedAlias).readonly(),
    }),
  })
  .meta({ id: 'ApiIndex' });

/** The JSON document of `/api`. */
export type ApiIndex = z.output<typeof apiIndex>;
