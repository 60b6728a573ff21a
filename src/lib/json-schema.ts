import * as z from 'zod';

/** JSON Schema (draft 2020-12), the dialect of OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Hand-written JSON Schemas for zod schemas, used in place of generated JSON Schemas. */
export interface SchemaForms {
  get(schema: z.core.$ZodType): JsonSchema | undefined;
}

/** Returns the JSON Schema of accepted values, with the hand-written schemas in `forms`. */
export function toInputSchema(schema: z.ZodType, forms: SchemaForms): JsonSchema {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const form = forms.get(zodSchema);
      if (form !== undefined) replace(jsonSchema, form);
      // zod omits a default that is followed by a transform, although it is the default of the
      // input.
      if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue;
    },
  });
  return described;
}

function replace(schema: Record<string, unknown>, form: JsonSchema): void {
  for (const keyword of Object.keys(schema)) {
    if (keyword !== 'description') delete schema[keyword];
  }
  Object.assign(schema, form);
}

const schemaPrefix = '#/components/schemas/'; // prefix of references by id (OpenAPI 3.1 §4.8.7)

/** Creates a string schema with known values. Clients must expect more in later versions. */
export const openEnum = (values: readonly string[], description: string): z.ZodString =>
  z.string().meta({ description, 'x-extensible-enum': values });

/** Returns a `$ref` to a schema. Throws Error if the schema has no id. */
export function refer(schema: z.ZodType): JsonSchema {
  const { id } = z.globalRegistry.get(schema) ?? {};
  if (id === undefined) throw new Error('A schema that a document refers to has no id.');
  return { $ref: `${schemaPrefix}${id}` };
}

/** Returns a `$ref` for a schema with an id; otherwise a schema open to additional properties. */
export function toReplySchema(schema: z.ZodType): JsonSchema {
  if (z.globalRegistry.get(schema)?.id !== undefined) return refer(schema);
  const { $defs: _kept, ...described } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ jsonSchema }) => open(jsonSchema),
  });
  return withoutNames(rewriteReferences(described));
}

/** Returns a body's schema and those it refers to, named `…Input`, all closed to additions. */
export function toBodySchema(schema: z.ZodType) {
  const { $defs = {}, ...described } = z.toJSONSchema(schema, { io: 'input' });
  const toClosed = (one: object) => withoutNames(rewriteReferences(one, 'Input'));
  const kept = Object.entries($defs).map(([id, one]) => [`${id}Input`, toClosed(one)] as const);
  return { schema: toClosed(described), kept: Object.fromEntries(kept) };
}

function rewriteReferences(described: object, suffix = ''): JsonSchema {
  return JSON.parse(JSON.stringify(described), (name, value: unknown) =>
    name === '$ref' && typeof value === 'string'
      ? value.replace(/^#\/\$defs\/(.*)$/, `${schemaPrefix}$1${suffix}`)
      : value,
  );
}

/** Returns referenced schemas by id, open to additions: `x-extensible-enum` instead of `enum`. */
export function toReplySchemas(replies: readonly z.ZodType[]) {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    uri: (id) => `${schemaPrefix}${id}`,
    // zod converts every schema with an id, even schemas that no response uses. No conversion may
    // fail.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => open(jsonSchema),
  });
  const reached = new Set<string>();
  const reachFrom = (document: unknown): void => {
    for (const reference of findReferences(document)) {
      const id = reference.slice(schemaPrefix.length);
      if (reached.has(id)) continue;
      reached.add(id);
      reachFrom(schemas[id]);
    }
  };
  reachFrom(replies.map(toReplySchema));
  return Object.fromEntries([...reached].sort().map((id) => [id, withoutNames(schemas[id] ?? {})]));
}

function open(schema: Record<string, unknown>): void {
  delete schema.readOnly; // clients do not send replies back
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.enum === undefined) return;
  schema['x-extensible-enum'] = schema.enum;
  delete schema.enum;
}

const withoutNames = ({ $id: _id, $schema: _dialect, ...schema }: JsonSchema) => schema;

/** Returns every `$ref` in a document, at any depth. */
export function findReferences(document: unknown): readonly string[] {
  if (typeof document !== 'object' || document === null) return [];
  return Object.entries(document).flatMap(([name, value]) =>
    name === '$ref' && typeof value === 'string' ? [value] : findReferences(value),
  );
}
