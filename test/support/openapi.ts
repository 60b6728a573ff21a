import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import { z } from 'zod';

const reference = z.object({ $ref: z.string() });
const content = z.record(z.string(), z.object({ schema: z.looseObject({}) }));
const response = z.object({
  description: z.string().min(3),
  headers: z.record(z.string(), reference).optional(),
  content: content.optional(),
});

const parameter = z.strictObject({
  name: z.string(),
  in: z.enum(['path', 'query']),
  required: z.boolean(),
  description: z.string().min(3),
  schema: z.looseObject({}),
});

const operation = z.strictObject({
  operationId: z.string(),
  summary: z.string().min(3),
  description: z.string().min(3),
  tags: z.array(z.string()).min(1),
  deprecated: z.literal(true).optional(),
  'x-lifecycle-state': z.string().optional(),
  'x-successor-version': z.string().optional(),
  'x-successor-version-map': z.record(z.string(), z.string()).optional(),
  parameters: z.array(parameter),
  security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
  responses: z.record(z.string(), z.union([reference, response])),
});

/** One of the two shapes of a replacement (spec: Lifecycle object). */
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

const document = z.strictObject({
  openapi: z.string().regex(/^3\.1\.\d$/),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  servers: z.array(z.object({ url: z.url() })),
  tags: z.array(z.strictObject({ name: z.string(), description: z.string() })),
  security: z.array(z.looseObject({})),
  'x-api-lifecycle': lifecycle,
  paths: z.record(z.string(), z.strictObject({ get: operation })),
  components: z.strictObject({
    schemas: z.record(z.string(), z.looseObject({})),
    responses: z.record(z.string(), response),
    headers: z.record(
      z.string(),
      z.strictObject({ description: z.string(), schema: z.looseObject({}) }),
    ),
    securitySchemes: z.record(z.string(), z.looseObject({})),
  }),
});

/** A machine description, as a client reads it. */
export type OpenApiDocument = z.output<typeof document>;

/** An operation of it. */
export type Operation = z.output<typeof operation>;

type ResponseObject = z.output<typeof response>;

/** Reads a machine description; it fails on members that it does not know. */
export function parseDocument(json: unknown): OpenApiDocument {
  return document.parse(json);
}

/** Gives each operation with its path. */
export function operationsOf({
  paths,
}: OpenApiDocument): readonly (Operation & { path: string })[] {
  return Object.entries(paths).map(([path, { get }]) => ({ ...get, path }));
}

/** Gives the operation of an id. */
export function operationOf(from: OpenApiDocument, id: string): Operation {
  const found = operationsOf(from).find(({ operationId }) => operationId === id);
  if (found === undefined) throw new Error(`No operation ${id}.`);
  return found;
}

/** Gives the response of a status, from wherever the document keeps it. */
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

/** Headers of HTTP itself, of CORS and of the connection: no description lists them. */
const general =
  /^(?:access-control-.*|connection|content-.*|date|keep-alive|x-content-type-options)$/;

/** Checks a reply against what the document says of its operation, status and media type. */
export function expectDescribed(
  from: OpenApiDocument,
  id: string,
  reply: LightMyRequestResponse,
): void {
  const described = responseOf(from, operationOf(from, id), reply.statusCode);
  const names = Object.keys(described.headers ?? {}).map((name) => name.toLowerCase());
  const sent = Object.keys(reply.headers).filter((name) => !general.test(name));
  expect(sent.filter((name) => !names.includes(name))).toEqual([]);
  if (reply.body === '') return;
  const mediaType = String(reply.headers['content-type']).split(';', 1)[0] ?? '';
  const schema = described.content?.[mediaType]?.schema;
  expect(schema, `${id} ${reply.statusCode} ${mediaType}`).toBeDefined();
  const body = mediaType.endsWith('json') ? reply.json() : reply.body;
  toValidator(from, schema ?? {}).parse(body);
}

/** Makes a validator of a schema of the document: of its JSON, not of what it was made from. */
export function toValidator(from: OpenApiDocument, schema: object): z.ZodType {
  const whole = { $defs: from.components.schemas, ...schema };
  // The reader of JSON Schema knows references to `$defs` only.
  const text = JSON.stringify(whole).replaceAll('#/components/schemas/', '#/$defs/');
  return z.fromJSONSchema(JSON.parse(text));
}
