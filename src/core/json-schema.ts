import { z } from 'zod';

/** A JSON Schema of the draft 2020-12, which is also what OpenAPI 3.1 takes. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Forms that some schemas have in documents, where their own would say less. */
export interface SchemaForms {
  get(schema: z.core.$ZodType): JsonSchema | undefined;
}

/** Returns the JSON Schema of what a schema accepts, before its transforms. */
export function toInputSchema(schema: z.ZodType, forms: SchemaForms): JsonSchema {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const form = forms.get(zodSchema);
      if (form !== undefined) replace(jsonSchema, form);
      // zod leaves it out where a transform follows, although it is the value as it is sent.
      if (zodSchema instanceof z.ZodDefault) jsonSchema.default = zodSchema.def.defaultValue;
    },
  });
  return described;
}

/** Puts a form in the place of a schema, in place as zod demands; the description stays. */
function replace(schema: Record<string, unknown>, form: JsonSchema): void {
  for (const keyword of Object.keys(schema)) {
    if (keyword !== 'description') delete schema[keyword];
  }
  Object.assign(schema, form);
}

/** The start of references to schemas; their ids follow (OpenAPI 3.1 §4.8.7). */
const place = '#/components/schemas/';

/** Creates the schema of a text of an open set with these known values. */
export const openText = (values: readonly string[], description: string): z.ZodString =>
  z.string().meta({ description, 'x-extensible-enum': values });

/** Returns the reference to a schema that has an id. */
export function refer(schema: z.ZodType): JsonSchema {
  const { id } = z.globalRegistry.get(schema) ?? {};
  if (id === undefined) throw new Error('A schema that a document refers to has no id.');
  return { $ref: `${place}${id}` };
}

/** Returns the schema of a reply: a reference if it has an id, else itself, open. */
export function toReplySchema(schema: z.ZodType): JsonSchema {
  if (z.globalRegistry.get(schema)?.id !== undefined) return refer(schema);
  const { $defs: _kept, ...described } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ jsonSchema }) => open(jsonSchema),
  });
  return withoutNames(movePlaces(described));
}

/**
 * Returns the schema of a body, which is closed, and the schemas that it refers to by their names in documents. The
 * names differ from those of replies, which are open: `Account` of a body is `AccountInput`.
 */
export function toBodySchema(schema: z.ZodType) {
  const { $defs = {}, ...described } = z.toJSONSchema(schema, { io: 'input' });
  const toClosed = (one: object) => withoutNames(movePlaces(one, 'Input'));
  const kept = Object.entries($defs).map(([id, one]) => [`${id}Input`, toClosed(one)] as const);
  return { schema: toClosed(described), kept: Object.fromEntries(kept) };
}

/** Changes references to where a document keeps its schemas. */
function movePlaces(described: object, suffix = ''): JsonSchema {
  return JSON.parse(JSON.stringify(described), (name, value: unknown) =>
    name === '$ref' && typeof value === 'string'
      ? value.replace(/^#\/\$defs\/(.*)$/, `${place}$1${suffix}`)
      : value,
  );
}

/**
 * Returns all JSON Schemas that replies refer to, sorted by id. They are open: further members are allowed, and an
 * enumeration is a string with its known values in `x-extensible-enum`. Constants stay for unions.
 */
export function toReplySchemas(replies: readonly z.ZodType[]) {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    uri: (id) => `${place}${id}`,
    // Other schemas with an id are made as well, and left out below; none of them may fail.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => open(jsonSchema),
  });
  const reached = new Set<string>();
  const reachFrom = (document: unknown): void => {
    for (const id of findReferences(document).map((reference) => reference.slice(place.length))) {
      if (reached.has(id)) continue;
      reached.add(id);
      reachFrom(schemas[id]);
    }
  };
  reachFrom(replies.map(toReplySchema));
  return Object.fromEntries([...reached].sort().map((id) => [id, withoutNames(schemas[id] ?? {})]));
}

/** Opens a schema, in place as zod demands. */
function open(schema: Record<string, unknown>): void {
  delete schema.readOnly; // nothing of a reply is sent back
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.enum === undefined) return;
  schema['x-extensible-enum'] = schema.enum;
  delete schema.enum;
}

const withoutNames = ({ $id: _id, $schema: _dialect, ...schema }: JsonSchema) => schema;

/** Finds every reference in a document, at any depth. */
export function findReferences(document: unknown): readonly string[] {
  if (typeof document !== 'object' || document === null) return [];
  return Object.entries(document).flatMap(([name, value]) =>
    name === '$ref' && typeof value === 'string' ? [value] : findReferences(value),
  );
}
