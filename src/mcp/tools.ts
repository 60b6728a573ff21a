import type { z } from 'zod';
import type { JsonSchema } from '../core/json-schema.ts';
import { reads } from '../reads/index.ts';
import type { Read } from '../reads/read.ts';
import { describeParametersOf } from '../reads/read.ts';
import { describeOutput, type ObjectSchema } from './output-schema.ts';

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

/** Every tool reads and changes nothing; what it reads is somebody else's. */
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
