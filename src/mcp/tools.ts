import type { z } from 'zod';
import { type JsonSchema, refer, toReplySchemas } from '../core/json-schema.ts';
import { feedFormats } from '../model/results.ts';
import { reads } from '../reads/index.ts';
import { describeParametersOf, type Read } from '../reads/read.ts';

/** MCP tool: a read operation and the tool definition that is sent to clients. */
export type ReadTool = NonNullable<ReturnType<ReturnType<typeof createTools>['get']>>;

const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
} as const;

/** Creates a map of the MCP tools by name. `problem` is the schema of the structured content if a call fails. */
export function createTools(problem: z.ZodType) {
  return new Map(
    Object.values<Read>(reads).flatMap((read) => {
      const { tool: name, summary: description } = read;
      if (name === null) return [];
      const words = name.replaceAll('_', ' ');
      const inputSchema = describeInput(read);
      const definition = {
        name,
        title: `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`,
        description,
        inputSchema,
        outputSchema: describeOutput(read.reply, problem),
        annotations,
      };
      return [[name, { read, definition, defaults: defaultsOf(inputSchema) }] as const];
    }),
  );
}

/** Default values of arguments that have none over HTTP. The text of a result must fit into a model's context window. */
const ownDefaults: Readonly<Record<string, number>> = { max_chars: 60_000 };

/** Returns the arguments of a call that does not set the arguments with a default of their own. */
const defaultsOf = ({ properties }: ReturnType<typeof describeInput>) =>
  Object.fromEntries(
    Object.entries(ownDefaults).filter(([name]) => Object.hasOwn(properties, name)),
  );

const formatDescription =
  'Format of the text of the result. Default: `markdown`. The structured content is always JSON.';

/** Formats of the HTTP API that tools do not offer, because only browsers and feed readers use them. */
const formatsWithoutTool: ReadonlySet<string> = new Set(['html', ...feedFormats]);

function describeFormat(schema: JsonSchema): JsonSchema {
  const words = (schema.enum as readonly string[]).filter((word) => !formatsWithoutTool.has(word));
  return { description: formatDescription, ...schema, enum: words };
}

/** Returns the input schema of a tool, without `anyOf` at the root, which several MCP clients reject. */
function describeInput(read: Read) {
  const parameters = describeParametersOf(read);
  const properties = parameters.map(({ name, description, schema }): [string, JsonSchema] => [
    name,
    name === 'format'
      ? describeFormat(schema)
      : { description, ...schema, ...(name in ownDefaults && { default: ownDefaults[name] }) },
  ]);
  return {
    type: 'object' as const,
    properties: Object.fromEntries(properties),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

/**
 * Returns the schema of a tool's structured content: a JSON response body or, after an error, a problem document. MCP
 * requires an object at the root. Descriptions are omitted to save tokens of language models.
 */
function describeOutput(reply: z.ZodType, problem: z.ZodType) {
  const named = toReplySchemas([reply, problem]);
  const body = find(named, refer(reply));
  const definitions = namesIn(named, body);
  const toOutline = createOutline(named, definitions);
  const { required: requiredByProblem } = find(named, refer(problem));
  return {
    ...toOutline(body),
    type: 'object' as const,
    anyOf: [{ required: body.required }, { required: requiredByProblem }],
    $defs: Object.fromEntries(definitions.map((name) => [name, toOutline(named[name] ?? {})])),
  };
}

type NamedSchemas = Readonly<Record<string, JsonSchema>>;

/**
 * Creates a function that reduces an object schema to the names and types of its members. If the schema of a member has
 * a name that `definitions` contains, the member becomes a `$ref` to that name in `$defs`.
 */
function createOutline(named: NamedSchemas, definitions: readonly string[]) {
  const outlineMember = (schema: JsonSchema): JsonSchema => {
    const name = nameOf(schema);
    if (name !== null && definitions.includes(name)) return { $ref: `#/$defs/${name}` };
    const types = typesOf(named, schema);
    const type = types.length === 1 ? { type: types[0] } : { type: types };
    const items = schema.items as JsonSchema | undefined;
    return items === undefined ? type : { ...type, items: outlineMember(items) };
  };
  return (schema: JsonSchema): JsonSchema => {
    const members = branchesOf(named, schema).flatMap(({ properties = {} }) =>
      Object.entries(properties as NamedSchemas),
    );
    const outlined = members.map(([name, member]) => [name, outlineMember(member)] as const);
    return { type: 'object', properties: Object.fromEntries(outlined) };
  };
}

/** Returns the names of the schemas in `named` to which the members of `body` refer, such as `Post` and `Account`. */
function namesIn(named: NamedSchemas, body: JsonSchema): readonly string[] {
  const members = Object.values((body.properties ?? {}) as NamedSchemas);
  const names = members.flatMap((member) => {
    const name = nameOf((member.items as JsonSchema | undefined) ?? member);
    return name === null || named[name] === undefined ? [] : [name];
  });
  return [...new Set(names)];
}

function branchesOf(named: NamedSchemas, schema: JsonSchema): readonly JsonSchema[] {
  const found = find(named, schema);
  const branches = (found.anyOf ?? found.oneOf) as readonly JsonSchema[] | undefined;
  return branches?.flatMap((branch) => branchesOf(named, branch)) ?? [found];
}

function typesOf(named: NamedSchemas, schema: JsonSchema): readonly unknown[] {
  return [...new Set(branchesOf(named, schema).flatMap(({ type }) => type ?? []))];
}

const reference = /^#\/components\/schemas\/(\w+)$/;

function nameOf({ $ref }: JsonSchema): string | null {
  return reference.exec(String($ref))?.[1] ?? null;
}

function find(named: NamedSchemas, schema: JsonSchema): JsonSchema {
  const name = nameOf(schema);
  return name === null ? schema : (named[name] ?? {});
}
