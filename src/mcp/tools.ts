import type { z } from 'zod';
import { type JsonSchema, refer, toReplySchemas } from '../core/json-schema.ts';
import { reads } from '../reads/index.ts';
import { describeParametersOf, type Read } from '../reads/read.ts';

/** Read operation that is available as an MCP tool, with the tool definition that clients get. */
export type ReadTool = NonNullable<ReturnType<ReturnType<typeof createTools>['get']>>;

const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
} as const;

/** Creates the map of tools by name. `problem` is the schema of the structured content of results with `isError`. */
export function createTools(problem: z.ZodType) {
  return new Map(
    Object.values<Read>(reads).flatMap((read) => {
      const { tool: name, summary: description } = read;
      if (name === null) return [];
      const words = name.replaceAll('_', ' ');
      const definition = {
        name,
        title: `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`,
        description,
        inputSchema: describeInput(read),
        outputSchema: describeOutput(read.reply, problem),
        annotations,
      };
      return [[name, { read, definition }] as const];
    }),
  );
}

const formatDescription =
  'Format of the text of the result. Default: `markdown`. The structured content is always JSON.';

/** Returns the input schema. Several clients reject `anyOf` at the root, so descriptions explain the alternatives. */
function describeInput(read: Read) {
  const parameters = describeParametersOf(read);
  const properties = parameters.map(({ name, description, schema }): [string, JsonSchema] => [
    name,
    { description: name === 'format' ? formatDescription : description, ...schema },
  ]);
  return {
    type: 'object' as const,
    properties: Object.fromEntries(properties),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

/**
 * Returns the schema of a tool's structured content: the read's body or a problem document, because clients validate
 * both. Descriptions are omitted to save tokens of language models. The protocol requires an object at the root.
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

/** Creates the function that reduces the schema of an object to the names and types of its members. */
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

/** Returns the names of the schemas that the members of an object refer to, such as posts and accounts. */
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
