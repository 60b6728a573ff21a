import type { z } from 'zod';
import { type JsonSchema, refer, toReplySchemas } from '../core/json-schema.ts';
import { describeParametersOf } from '../reads/describe.ts';
import { reads } from '../reads/index.ts';
import type { Read } from '../reads/read.ts';

/** A schema of an object, as a tool's arguments and structured content have it. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/** What `tools/list` tells of a tool. */
export interface ToolDefinition {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema & {
    readonly properties: Readonly<Record<string, JsonSchema>>;
  };
  readonly outputSchema: ObjectSchema;
  readonly annotations: typeof annotations;
}

/** A read as a tool. */
export interface ReadTool {
  readonly read: Read;
  readonly definition: ToolDefinition;
}

/** Every tool reads and changes nothing; what it reads is somebody else's (decisions section 8). */
const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
} as const;

/**
 * Gives the tools, by name: a read is one where its row says so. `problem` is the schema of a problem
 * document, which is the structured content of a result with `isError`.
 */
export function createTools(problem: z.ZodType): ReadonlyMap<string, ReadTool> {
  const tools = Object.values<Read>(reads).flatMap((read): readonly ReadTool[] =>
    read.tool === null ? [] : [{ read, definition: defineTool(read, read.tool, problem) }],
  );
  return new Map(tools.map((tool) => [tool.definition.name, tool]));
}

function defineTool(read: Read, name: string, problem: z.ZodType): ToolDefinition {
  return {
    name,
    title: toTitle(name),
    description: read.summary,
    inputSchema: describeInput(read),
    outputSchema: describeOutput(read.reply, problem),
    annotations,
  };
}

/** Gives a name as people read it: `get_post` is `Get post`. */
function toTitle(name: string): string {
  const words = name.replaceAll('_', ' ');
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

/** In place of what the description of `format` says of `Accept`, which a call does not have. */
const formatDescription =
  'What the text of the result is. Default `markdown`; the structured content is JSON whatever this says.';

/** Several clients refuse `anyOf` at the root, so that what goes together is told by descriptions. */
function describeInput(read: Read): ToolDefinition['inputSchema'] {
  const parameters = describeParametersOf(read);
  const properties = parameters.map(({ name, description, schema }) => [
    name,
    { description: name === 'format' ? formatDescription : description, ...schema },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  };
}

/**
 * Gives the schema of a tool's structured content: the body of the read, or a problem document. The
 * protocol wants an object at the root, and clients validate results with `isError` as well.
 */
function describeOutput(reply: z.ZodType, problem: z.ZodType): ObjectSchema {
  const text = JSON.stringify({ $defs: toReplySchemas([reply, problem]), body: refer(reply) });
  const { $defs, body } = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as {
    readonly $defs: Record<string, JsonSchema>;
    readonly body: { readonly $ref: string };
  };
  const id = body.$ref.slice('#/$defs/'.length);
  const { required, ...described } = $defs[id] ?? {};
  const { [id]: _own, ...others } = $defs;
  const [failed] = Object.values(refer(problem));
  return {
    ...described,
    type: 'object',
    anyOf: [{ required }, { $ref: String(failed).replace('#/components/schemas/', '#/$defs/') }],
    $defs: others,
  };
}
