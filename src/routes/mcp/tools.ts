import type { JsonSchema } from '../../lib/json-schema.ts';
import { reads } from '../../reads/index.ts';
import { describeParametersOf, type Read } from '../../reads/read.ts';

export type ReadTool = NonNullable<ReturnType<ReturnType<typeof createTools>['get']>>;

const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
} as const;

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

const toolFormats: Readonly<Record<string, string>> = {
  markdown: '`markdown`: text for reading.',
  json: '`json`: all data as JSON.',
  obsidian: '`obsidian`: a note with YAML properties.',
};

/** Defaults that HTTP does not have: results must fit into a model's context window. */
const ownDefaults: Readonly<Record<string, number>> = { max_chars: 60_000 };

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

const keywords: ReadonlySet<string> = new Set(['type', 'enum', 'minimum', 'maximum', 'default']);

function toPlainSchema({ anyOf, ...schema }: JsonSchema): JsonSchema {
  const { type, ...rest } = anyOf === undefined ? schema : { ...schema, type: 'string' };
  return Object.fromEntries(
    Object.entries({ type, ...rest }).filter(([keyword]) => keywords.has(keyword)),
  );
}

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
