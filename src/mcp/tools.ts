import type { JsonSchema } from '../core/json-schema.ts';
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

/** Creates a map of the MCP tools by name. */
export function createTools() {
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
        annotations,
      };
      return [[name, { read, definition, defaults: defaultsOf(inputSchema) }] as const];
    }),
  );
}

/** Formats that tools offer, with their descriptions. The others are for browsers and feed readers. */
const toolFormats: Readonly<Record<string, string>> = {
  markdown: '`markdown`: text for reading.',
  json: '`json`: all data as JSON.',
  obsidian: '`obsidian`: a note with YAML properties.',
};

/** Default values of arguments that have none over HTTP. The text of a result must fit into a model's context window. */
const ownDefaults: Readonly<Record<string, number>> = { max_chars: 60_000 };

/** Returns the arguments of a call that does not set the arguments with a default of their own. */
const defaultsOf = ({ properties }: ReturnType<typeof describeInput>) =>
  Object.fromEntries(
    Object.entries(ownDefaults).filter(([name]) => Object.hasOwn(properties, name)),
  );

function describeFormat({ enum: values }: JsonSchema): JsonSchema {
  const words = (values as readonly string[]).filter((word) => toolFormats[word] !== undefined);
  const description = ['Format of the result.', ...words.map((word) => toolFormats[word])].join(
    ' ',
  );
  return { type: 'string', description, enum: words, default: 'markdown' };
}

/** Keywords of a property, besides `description`. The vendors of language models refuse many others. */
const keywords: ReadonlySet<string> = new Set(['type', 'enum', 'minimum', 'maximum', 'default']);

/**
 * Reduces the schema of a parameter to one type and the keywords that all vendors accept. Where the value has several
 * forms, the type is text, in which every parameter can be written.
 */
function toPlainSchema({ anyOf, ...schema }: JsonSchema): JsonSchema {
  const { type, ...rest } = anyOf === undefined ? schema : { ...schema, type: 'string' };
  return Object.fromEntries(
    Object.entries({ type, ...rest }).filter(([keyword]) => keywords.has(keyword)),
  );
}

/** Returns the input schema of a tool, without `required` if nothing is: JSON Schema draft 4 forbids an empty list. */
function describeInput(read: Read) {
  const parameters = describeParametersOf(read);
  const properties = parameters.map(({ name, description, schema }): [string, JsonSchema] => [
    name,
    name === 'format'
      ? describeFormat(schema)
      : {
          ...toPlainSchema(schema),
          ...(name in ownDefaults && { default: ownDefaults[name] }),
          description,
        },
  ]);
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  return {
    type: 'object' as const,
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}
