import { z } from 'zod';

/** A JSON Schema of the draft 2020-12, which is also what OpenAPI 3.1 takes. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Forms that some schemas have in documents, where their own would say less. */
export interface SchemaForms {
  get(schema: z.core.$ZodType): JsonSchema | undefined;
}

/** Gives the JSON Schema of what a schema accepts: the side before its transforms. */
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

/** Where documents keep their schemas; a reference to one is this and its id (OpenAPI 3.1 §4.8.7). */
const place = '#/components/schemas/';

/** Text of an open set: these are its known values, and others may come. */
export function openText(values: readonly string[], description: string): z.ZodString {
  return z.string().meta({ description, 'x-extensible-enum': values });
}

/** Gives the reference to a schema that has an id. */
export function refer(schema: z.ZodType): JsonSchema {
  return { $ref: `${place}${idOf(schema)}` };
}

/** Gives the schema of a reply where it stands: a reference where it has an id, else itself, open. */
export function toReplySchema(schema: z.ZodType): JsonSchema {
  if (z.globalRegistry.get(schema)?.id !== undefined) return refer(schema);
  const { $defs: _kept, ...described } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ jsonSchema }) => open(jsonSchema),
  });
  return withoutNames(movePlaces(described));
}

/** What a body that a route reads must be: closed, because what is not known is refused. */
export interface BodySchema {
  readonly schema: JsonSchema;
  /** The schemas that it refers to, by the name that documents keep them under. */
  readonly kept: Readonly<Record<string, JsonSchema>>;
}

/**
 * Gives the schema of a body. What it refers to is named apart from the schemas of replies, which are
 * open: `Account` of a body is `AccountInput`.
 */
export function toBodySchema(schema: z.ZodType): BodySchema {
  const { $defs = {}, ...described } = z.toJSONSchema(schema, { io: 'input' });
  const kept = Object.entries($defs).map(
    ([id, one]) => [`${id}${inputSuffix}`, withoutNames(movePlaces(one, inputSuffix))] as const,
  );
  return {
    schema: withoutNames(movePlaces(described, inputSuffix)),
    kept: Object.fromEntries(kept),
  };
}

const inputSuffix = 'Input';

/** Leads references to where a document keeps its schemas. */
function movePlaces(described: object, suffix = ''): JsonSchema {
  return JSON.parse(JSON.stringify(described), (name, value: unknown) =>
    name === '$ref' && typeof value === 'string'
      ? value.replace(/^#\/\$defs\/(.*)$/, `${place}$1${suffix}`)
      : value,
  );
}

function idOf(schema: z.ZodType): string {
  const { id } = z.globalRegistry.get(schema) ?? {};
  if (id === undefined) throw new Error('A schema that a document refers to has no id.');
  return id;
}

/**
 * Gives the JSON Schemas that replies refer to, by id and sorted, with all that those refer to. They are open,
 * because what is added to a reply breaks nobody: members that are not described
 * are allowed, and an enumeration is a string with its known values in `x-extensible-enum`. Constants
 * stay, since they tell the members of a union apart.
 */
export function toReplySchemas(
  replies: readonly z.ZodType[],
): Readonly<Record<string, JsonSchema>> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    uri: (id) => `${place}${id}`,
    // Other schemas with an id are made as well, and left out below; none of them may fail.
    unrepresentable: 'any',
    override: ({ jsonSchema }) => open(jsonSchema),
  });
  const reached = new Set<string>();
  const described = (id: string) => schemas[id] ?? {};
  const reach = (id: string): void => {
    if (reached.has(id)) return;
    reached.add(id);
    for (const next of findReferences(described(id))) reach(next.slice(place.length));
  };
  for (const reply of replies) {
    for (const reference of findReferences(toReplySchema(reply))) {
      reach(reference.slice(place.length));
    }
  }
  return Object.fromEntries([...reached].sort().map((id) => [id, withoutNames(described(id))]));
}

/** Opens a schema, in place as zod demands. */
function open(schema: Record<string, unknown>): void {
  // Nothing of a reply is sent back, so that `readOnly` says nothing.
  delete schema.readOnly;
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.enum === undefined) return;
  schema['x-extensible-enum'] = schema.enum;
  delete schema.enum;
}

function withoutNames({ $id: _id, $schema: _dialect, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** Finds every reference in a document, at any depth. */
export function findReferences(document: unknown): readonly string[] {
  if (typeof document !== 'object' || document === null) return [];
  return Object.entries(document).flatMap(([name, value]) =>
    name === '$ref' && typeof value === 'string' ? [value] : findReferences(value),
  );
}
