import { z } from 'zod';
import type { Endpoint } from '../core/endpoint.ts';
import { documentReplies } from './document.ts';

const describedRoute = z.object({
  operation_id: z.string(),
  method: z.string(),
  path: z.string(),
  summary: z.string(),
  parameters: z.array(z.string()).readonly().describe('Their names, those of the path first.'),
  deprecated: z.boolean().optional(),
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

/** The document of `/api`; see `describeApi`. */
const apiIndex = z
  .object({
    name: z.string(),
    version: z.string(),
    description: z.string(),
    base_url: z.string(),
    documentation: z.record(z.string(), z.string()),
    surfaces: z.array(
      z.object({ name: z.string(), description: z.string(), routes: z.array(describedRoute) }),
    ),
    versioning: z.object({
      current: z.string(),
      base_path: z.string(),
      policy_url: z.string(),
      deprecated_aliases: z.array(deprecatedAlias),
    }),
  })
  .meta({ id: 'ApiIndex' });

/** The route of `/api`, as the machine description tells of it. */
export const apiIndexEndpoints: readonly Endpoint[] = [
  {
    id: 'getApiIndex',
    method: 'GET',
    path: '/api',
    tag: 'discovery',
    summary: 'Describes the service: its routes, their parameters and its versioning.',
    replies: documentReplies({ 'application/json': apiIndex }),
    problems: [],
    access: 'open',
  },
];
