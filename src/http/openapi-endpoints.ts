import { z } from 'zod';
import type { Endpoint } from '../core/endpoint.ts';
import { documentReplies } from './document.ts';

/** What every OpenAPI document has; the rest is its own matter (OpenAPI 3.1 §4.8.1). */
const openApiDocument = z.looseObject({
  openapi: z.string().describe('The version of OpenAPI.'),
  info: z.looseObject({ title: z.string(), version: z.string().describe('Of Perch.') }),
  paths: z.record(z.string(), z.looseObject({})),
});

/** The route of the machine description, as it tells of itself. */
export const openApiEndpoints: readonly Endpoint[] = [
  {
    id: 'getOpenApi',
    method: 'GET',
    path: '/openapi.json',
    tag: 'discovery',
    summary: 'Describes every route, parameter and reply (OpenAPI 3.1).',
    replies: documentReplies({ 'application/json': openApiDocument }),
    problems: [],
    access: 'open',
  },
];
