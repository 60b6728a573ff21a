import { z } from 'zod';

const reference = z.object({ $ref: z.string() });
const content = z.record(
  z.string(),
  z.strictObject({
    schema: z.looseObject({}),
    examples: z.record(z.string(), z.object({ $ref: z.string() })).optional(),
  }),
);
const header = z.strictObject({
  description: z.string().min(3),
  required: z.literal(true).optional(),
  schema: z.looseObject({}),
});
const response = z.strictObject({
  description: z.string().min(3),
  headers: z.record(z.string(), z.union([reference, header])).optional(),
  content: content.optional(),
});

const parameter = z.strictObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean(),
  example: z.unknown().optional(),
  description: z.string().min(3),
  schema: z.looseObject({}),
});

const operation = z.strictObject({
  operationId: z.string(),
  summary: z.string().min(3),
  description: z.string().min(3).optional(),
  tags: z.array(z.string()).min(1),
  deprecated: z.literal(true).optional(),
  'x-lifecycle-state': z.string().optional(),
  'x-successor-version': z.string().optional(),
  'x-successor-version-map': z.record(z.string(), z.string()).optional(),
  'x-rate-limit-policies': z.array(z.string()).optional(),
  parameters: z.array(parameter).default([]),
  requestBody: z.strictObject({ required: z.boolean(), content }).optional(),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  responses: z.record(z.string(), z.union([reference, response])),
});

/** Either form of a replacement. */
const replacement = z.union([
  z.object({ successor: z.string() }),
  z.object({ successor_parameter: z.string(), successors: z.record(z.string(), z.string()) }),
]);

const lifecycle = z.object({
  current_major_version: z.string(),
  supported_versions: z.array(z.string()),
  minimum_support_window_months: z.number(),
  deprecation_signals: z.array(z.string()),
  deprecation_policy_url: z.url(),
  deprecated_operations: z.array(
    z
      .object({
        operationId: z.string(),
        path: z.string(),
        deprecated: z.iso.datetime(),
        sunset: z.iso.datetime(),
      })
      .and(replacement),
  ),
});

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

const document = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d$/),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  servers: z.array(z.object({ url: z.url() })),
  tags: z.array(z.strictObject({ name: z.string(), description: z.string() })),
  security: z.array(z.looseObject({})),
  'x-api-lifecycle': lifecycle,
  'x-rate-limit-policies': z.record(
    z.string(),
    z.strictObject({
      counts: z.string().min(3),
      partition: z.string().min(3),
      quota: z.number().int().positive(),
      window_seconds: z.number().int().positive(),
    }),
  ),
  'x-problem-codes': z.record(
    z.string(),
    z.strictObject({
      type: z.url(),
      status: z.number().int(),
      title: z.string().min(3),
      when: z.string().min(3),
      resolution: z.string().min(3),
      unavailable: z.object({ reason: z.string(), detail: z.string() }).optional(),
      retry_after: z.number().int().optional(),
    }),
  ),
  paths: z.record(z.string(), z.partialRecord(z.enum(methods), operation)),
  components: z.strictObject({
    schemas: z.record(z.string(), z.looseObject({})),
    responses: z.record(z.string(), response),
    headers: z.record(z.string(), header),
    examples: z.record(z.string(), z.strictObject({ value: z.unknown() })),
    securitySchemes: z.record(z.string(), z.looseObject({})),
  }),
});

/** OpenAPI description as a client parses it. */
export type OpenApiDocument = z.output<typeof document>;

/** Operation of an OpenAPI description. */
export type Operation = z.output<typeof operation>;

/** Response of an OpenAPI description. */
export type ResponseObject = z.output<typeof response>;

/** Response header of an OpenAPI description. */
export type HeaderObject = z.output<typeof header>;

/** Parses an OpenAPI description. @throws for unknown members */
export function parseDocument(json: unknown): OpenApiDocument {
  return document.parse(json);
}

/** Returns all operations with path and method. */
export function operationsOf({
  paths,
}: OpenApiDocument): readonly (Operation & { path: string; method: string })[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, one]) => ({ ...one, path, method })),
  );
}

/** Returns a header, and resolves a reference if necessary. */
export function resolveHeader(
  { components }: OpenApiDocument,
  one: HeaderObject | z.output<typeof reference>,
): HeaderObject {
  if (!('$ref' in one)) return one;
  const kept = components.headers[one.$ref.replace('#/components/headers/', '')];
  if (kept === undefined) throw new Error(`Nothing at ${one.$ref}.`);
  return kept;
}

/** Returns the operation with the given id. */
export function operationOf(from: OpenApiDocument, id: string): Operation {
  const found = operationsOf(from).find(({ operationId }) => operationId === id);
  if (found === undefined) throw new Error(`No operation ${id}.`);
  return found;
}

/** Returns the response for a status, and resolves a reference if necessary. */
export function responseOf(
  { components }: OpenApiDocument,
  { responses }: Operation,
  status: string | number,
): ResponseObject {
  const found = responses[status];
  if (found === undefined) throw new Error(`No response ${status}.`);
  if (!('$ref' in found)) return found;
  const kept = components.responses[found.$ref.replace('#/components/responses/', '')];
  if (kept === undefined) throw new Error(`Nothing at ${found.$ref}.`);
  return kept;
}
