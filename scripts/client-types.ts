/** Members of an OpenAPI schema that the type generator uses. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly 'x-extensible-enum'?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly description?: string;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

/** Members of an OpenAPI description that the type generator uses. */
export interface Description {
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly get?: { readonly operationId: string; readonly parameters?: readonly Parameter[] };
      }
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/**
 * Schemas of the objects that the TypeScript client returns. The generated file also contains the
 * schemas that they refer to.
 */
const roots = [
  'PostReply',
  'BrowseReply',
  'EmbedReply',
  'HistoryMetaLine',
  'HistoryPostLine',
  'HistoryReply',
  'Problem',
  'SessionCancelAccepted',
  'SessionEvent',
  'SessionHealth',
  'SessionMessageAccepted',
  'SessionNotRunning',
  'SessionResetDone',
  'SessionStarted',
];

/**
 * Names of the TypeScript interfaces for optional query parameters, by the id of the operation that
 * accepts the parameters.
 */
const parameterTypes: Readonly<Record<string, string>> = {
  getPost: 'PostParameters',
  listReplies: 'RepliesParameters',
  getProfile: 'ProfileParameters',
  listFollowers: 'AccountsParameters',
  searchPosts: 'SearchParameters',
  getOEmbed: 'EmbedParameters',
  importProfilePosts: 'HistoryParameters',
};

/** Query parameters that the TypeScript client sets itself, which callers therefore cannot pass. */
const ownParameters: ReadonlySet<string> = new Set(['format', 'url', 'handle', 'id', 'q']);

/** Returns the content of `clients/typescript/src/generated.ts`: types for the responses and parameters of the API. */
export function writeClientTypes({ paths, components }: Description): string {
  const names = reachable(components.schemas, roots);
  const types = names.map((name) => declareSchema(name, components.schemas[name] ?? {}));
  const operations = Object.values(paths).flatMap(({ get }) => get ?? []);
  const parameters = Object.entries(parameterTypes).map(([id, name]) => {
    const operation = operations.find(({ operationId }) => operationId === id);
    if (operation === undefined) throw new Error(`The description has no operation ${id}.`);
    return declareParameters(id, name, operation.parameters ?? []);
  });
  const codes = components.schemas.Problem?.properties?.code?.['x-extensible-enum'] ?? [];
  const declaredCodes = `/** Codes of the errors that a server can return. */\nexport type ProblemCode =${codes.map((code) => `\n  | '${code}'`).join('')};\n`;
  return [
    '// Generated from openapi/perch.json by `npm run generate`. Do not edit.\n',
    ...types,
    ...parameters,
    declaredCodes,
  ].join('\n');
}

/** Returns the names of the given schemas and of all schemas that they refer to, sorted. */
function reachable(schemas: Description['components']['schemas'], from: readonly string[]) {
  const found = new Set<string>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    const schema = schemas[name];
    if (schema === undefined) throw new Error(`The description has no schema ${name}.`);
    found.add(name);
    for (const [, to = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      visit(to);
    }
  };
  for (const name of from) visit(name);
  return [...found].sort();
}

function declareSchema(name: string, schema: Schema): string {
  const isObject = schema.type === 'object' && schema.properties !== undefined;
  const type = toType(schema, '');
  const body = isObject ? `export interface ${name} ${type}` : `export type ${name} = ${type};`;
  return `${comment(schema.description, '')}${body}\n`;
}

function declareParameters(id: string, name: string, parameters: readonly Parameter[]): string {
  const taken = parameters.filter(
    (parameter) => parameter.in === 'query' && !ownParameters.has(parameter.name),
  );
  const members = taken.map(({ name: member, description, schema }) =>
    writeMember({ name: member, type: `${toType(schema, '  ')} | undefined`, description }),
  );
  return `/** Optional query parameters of the API operation \`${id}\`. */\nexport interface ${name} {\n${members.join('')}}\n`;
}

interface Member {
  readonly name: string;
  readonly type: string;
  readonly description?: string | undefined;
  readonly isRequired?: boolean;
  readonly indent?: string;
}

function writeMember({ name, type, description, isRequired = false, indent = '' }: Member): string {
  const key = /^[\w$]+$/.test(name) ? name : `'${name}'`;
  const line = `${indent}  readonly ${key}${isRequired ? '' : '?'}: ${type};\n`;
  return `${comment(description, `${indent}  `)}${line}`;
}

function comment(description: string | undefined, indent: string): string {
  if (description === undefined) return '';
  return `${indent}/** ${description.replaceAll('*/', '*\\/').replaceAll('\n', ' ')} */\n`;
}

/** Returns the TypeScript type of a schema. The type of an extensible enumeration also allows other strings. */
function toType(schema: Schema, indent: string): string {
  if (schema.$ref !== undefined) return schema.$ref.replace('#/components/schemas/', '');
  if (schema.const !== undefined) return toLiteral(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(toLiteral).join(' | ');
  const extensible = schema['x-extensible-enum'];
  if (extensible !== undefined) return [...extensible.map(toLiteral), '(string & {})'].join(' | ');
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) return toUnion(either.map((one) => toType(one, indent)));
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['unknown']);
  return toUnion(types.map((type) => toPlainType(type, schema, indent)));
}

const toUnion = (types: readonly string[]) => [...new Set(types)].join(' | ');

const toArray = (item: string) => `readonly ${/^\w+$/.test(item) ? item : `(${item})`}[]`;

const toLiteral = (value: unknown) =>
  typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value);

function toPlainType(type: string, schema: Schema, indent: string): string {
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return toArray(toType(schema.items ?? {}, indent));
    case 'object':
      return toObject(schema, indent);
    default:
      return 'unknown';
  }
}

function toObject({ properties, required = [], additionalProperties }: Schema, indent: string) {
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? additionalProperties : {};
    return `{ readonly [name: string]: ${toType(values, indent)} }`;
  }
  const members = Object.entries(properties).map(([name, schema]) =>
    writeMember({
      name,
      type: toType(schema, `${indent}  `),
      description: schema.description,
      isRequired: required.includes(name),
      indent,
    }),
  );
  return `{\n${members.join('')}${indent}}`;
}
