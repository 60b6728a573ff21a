import { z } from 'zod';

const text = z.string();
const any = z.unknown().optional();
const list = z.array(z.unknown()).optional();
const byName = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value);

const $ref = text.default('').transform((reference) => reference.replace(/^.*\//, ''));
const component = z.object({ $ref, description: text.default('') });
const named = z.object({ name: text, description: text });

/** Schema of a JSON Schema, with the keywords shown. Nested schemas stay unparsed. */
export const valueSchema = component.extend({
  type: z.union([text, z.array(text)]).default('any value'),
  ...{ default: any, const: any, items: any, minimum: any, maximum: any },
  ...{ anyOf: list, oneOf: list, enum: list, 'x-extensible-enum': list, examples: list },
  properties: byName(z.unknown()).default({}),
  required: z.array(text).default([]),
});

const examples = byName(component).default({});
const content = byName(z.object({ schema: valueSchema, examples })).default({});
const response = component.extend({ content });
const parameter = named.extend({ in: text, required: z.boolean(), schema: valueSchema });

const operation = z.object({
  ...{ operationId: text, summary: text, description: text, tags: z.array(text) },
  parameters: z.array(parameter.extend({ example: any })).default([]),
  requestBody: z.object({ content }).default({ content: {} }),
  security: z.array(byName(z.unknown())).default([]),
  responses: byName(response),
});

/** Schema of an OpenAPI document, with the members that the API page shows (OpenAPI 3.1 §4.8). */
export const apiDescription = z.object({
  info: z.object({ version: text, description: text }),
  servers: z.tuple([z.object({ url: text })]),
  tags: z.array(named),
  paths: byName(byName(operation)),
  components: z.object({
    schemas: byName(valueSchema),
    responses: byName(response),
    examples: byName(z.object({ value: z.unknown() })),
  }),
  'x-problem-codes': byName(z.unknown()),
});

export type ApiDescription = z.output<typeof apiDescription>;
export type ValueSchema = z.output<typeof valueSchema>;
export type Content = z.output<typeof content>;
export type Operation = z.output<typeof operation> & { readonly path: string; method: string };
