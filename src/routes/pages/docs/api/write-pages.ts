import * as z from 'zod';
import { encodeComponent } from '../../../../lib/http/url.ts';

const text = z.string();
const anything = z.unknown().optional();
const list = z.array(z.unknown()).optional();
const byName = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value);

const $ref = text.default('').transform((reference) => reference.replace(/^.*\//, ''));
const component = z.object({ $ref, description: text.default('') });
const named = z.object({ name: text, description: text });

/** Schema of a JSON Schema, with the keywords shown. Nested schemas stay unparsed. */
const valueSchema = component.extend({
  type: z.union([text, z.array(text)]).default('any value'),
  ...{ default: anything, const: anything, items: anything, minimum: anything, maximum: anything },
  ...{ anyOf: list, oneOf: list, enum: list, 'x-extensible-enum': list, examples: list },
  properties: byName(z.unknown()).default({}),
  required: z.array(text).default([]),
});

const examples = byName(component).default({});
const content = byName(z.object({ schema: valueSchema, examples })).default({});
const response = component.extend({ content });
const parameter = named.extend({ in: text, required: z.boolean(), schema: valueSchema });

const operation = z.object({
  ...{ operationId: text, summary: text, description: text, tags: z.array(text) },
  parameters: z.array(parameter.extend({ example: anything })).default([]),
  requestBody: z.object({ content }).default({ content: {} }),
  security: z.array(byName(z.unknown())).default([]),
  responses: byName(response),
});

/** Schema of an OpenAPI document, with the members that the API page shows (OpenAPI 3.1 §4.8). */
const apiDescription = z.object({
  info: z.object({ version: text, description: text }),
  servers: z.tuple([z.object({ url: text })]),
  tags: z.array(named),
  paths: byName(byName(operation)),
  components: z.object({
    schemas: byName(valueSchema),
    responses: byName(response),
    examples: byName(z.object({ value: z.unknown() })),
  }),
  'x-problem-codes': byName(z.unknown()),
});

type ApiDescription = z.output<typeof apiDescription>;
type ValueSchema = z.output<typeof valueSchema>;
type Content = z.output<typeof content>;
type Operation = z.output<typeof operation> & { readonly path: string; method: string };

/**
 * Writes an OpenAPI document as Markdown pages by name: `api` (all operations), `api/…` for each
 * tag, and `api/schemas`. `titleOf` returns the title of a page. Headings have operation ids and
 * schema names as ids.
 */
export function writeApiPages(
  document: unknown,
  titleOf: (name: string) => string,
): ReadonlyMap<string, string> {
  const api = apiDescription.parse(document);
  const operations = Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, one]) => ({ ...one, path, method: method.toUpperCase() })),
  );
  const groups = api.tags.map((tag) => {
    const name = `api/${tag.name}`;
    const own = operations.filter((one) => one.tags.includes(tag.name));
    return { name, title: titleOf(name), description: tag.description, operations: own };
  });
  const schemas = Object.entries(api.components.schemas);
  const names = schemas.map(([name]) => `[${name}](api/schemas.md#${name})`);
  const index = [
    `Every operation of this server, from its [OpenAPI description](${api.servers[0].url}/openapi.json) of version ${api.info.version}. The commands with \`ada.example\` run against the sample, without a network. Errors are [problem documents](errors.md), also those of requests that the server refuses before they reach an operation.`,
    api.info.description,
    ...groups.flatMap(writeEntries),
    `## ${titleOf('api/schemas')}`,
    names.join(', '),
  ];
  const pages: readonly (readonly [name: string, blocks: readonly string[]])[] = [
    ['api', index],
    ...groups.map(
      ({ name, description, operations: own }) =>
        [name, [description, ...writeOperations(own, api)]] as const,
    ),
    ['api/schemas', schemas.flatMap(writeSchema)],
  ];
  return new Map(
    pages.map(([name, blocks]) => {
      const written = [`# ${titleOf(name)}`, ...blocks].filter((block) => block !== '');
      return [name, `${written.join('\n\n')}\n`];
    }),
  );
}

interface Group {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

function writeEntries({ name, title, description, operations }: Group): readonly string[] {
  const entries = operations.map(
    ({ operationId: id, summary, ...one }) =>
      `- [${summary}](${name}.md#${id}): ${writeAddress(one)}`,
  );
  return [`## ${title}`, `${description} [Details](${name}.md).`, entries.join('\n')];
}

function writeAddress({ method, path }: Pick<Operation, 'method' | 'path'>): string {
  return code(`${method} ${path}`);
}

function writeOperations(operations: readonly Operation[], api: ApiDescription): string[] {
  return groupVariants(operations).flatMap(([first, ...others]) => [
    ...writeOperation(first, api),
    ...others.flatMap((one) => writeVariant(one, first, api)),
  ]);
}

type Variants = [first: Operation, ...others: Operation[]];

function groupVariants(operations: readonly Operation[]): readonly Variants[] {
  const groups = new Map<string, Variants>();
  for (const operation of operations) {
    const { method, summary, requestBody, responses } = operation;
    const [name] = summary.split(' (', 1);
    const key = JSON.stringify([method, name, requestBody, responses]);
    const found = groups.get(key);
    if (found === undefined) groups.set(key, [operation]);
    else found.push(operation);
  }
  return [...groups.values()];
}

function writeVariant(operation: Operation, first: Operation, api: ApiDescription) {
  const known = new Set(first.parameters.map((one) => JSON.stringify(one)));
  const own = operation.parameters.filter((one) => !known.has(JSON.stringify(one)));
  const names = new Set(operation.parameters.map(({ name }) => name));
  const missing = first.parameters.filter(({ name }) => !names.has(name));
  const except = missing.map(({ name }, at) => `${at === 0 ? ' except' : ','} ${code(name)}`);
  const link = `[${first.summary}](#${first.operationId})`;
  const others = `Takes the ${own.length === 0 ? '' : 'other '}parameters of ${link}${except.join('')}, and gives its responses.`;
  const sentences = operation.description.split(/(?<=\.) /);
  return [
    ...writeHeading(operation, '###'),
    sentences.filter((sentence) => !first.description.includes(sentence)).join(' '),
    writeParameters(own),
    own.length === names.size ? `Gives the responses of ${link}.` : others,
    writeCommand(operation, api),
  ];
}

function writeHeading(operation: Operation, level: '##' | '###'): readonly string[] {
  const { summary, operationId: id } = operation;
  return [`${level} ${summary} {#${id}}`, `${writeAddress(operation)}, operation id ${code(id)}`];
}

function writeOperation(operation: Operation, api: ApiDescription): readonly string[] {
  const { description, parameters, requestBody, responses } = operation;
  const replies = Object.entries(responses)
    .filter(([status]) => status !== 'default')
    .map(([status, own]) => ({ status, ...(api.components.responses[own.$ref] ?? own) }));
  const replyRows = replies
    .filter((reply) => !isError(reply))
    .map(({ status, content, ...one }) => {
      return [code(status), `${linkCodes(one.description, api)} ${nameBodies(content)}`];
    });
  const errors = replies.filter(isError).map(({ status, ...one }) => {
    return `${code(status)} ${linkCodes(one.description, api).replaceAll('\n\n', ', ')}`;
  });
  const bodies = [requestBody, ...replies].flatMap(({ content }) => Object.values(content));
  return [
    ...writeHeading(operation, '##'),
    description,
    writeParameters(parameters),
    nameBodies(requestBody.content).replace(/^./, 'Request body: $&'),
    writeTable(['status', 'response'], replyRows),
    errors.length === 0 ? '' : `Errors: ${errors.join('; ')}`,
    // Schemas with a name are on their own page.
    ...bodies.map(({ schema }) => writeMembers(schema)),
    writeCommand(operation, api),
    writeReply(operation, api),
  ];
}

function writeParameters(parameters: Operation['parameters']): string {
  const rows = parameters.map(({ name, in: place, required, schema, ...one }) => {
    const standard = schema.default === undefined ? '' : code(schema.default);
    const where = `${place}${required ? ', required' : ''}`;
    return [code(name), where, nameType(schema), standard, one.description];
  });
  return writeTable(['parameter', 'in', 'values', 'default', 'description'], rows);
}

function isError({ description }: { readonly description: string }): boolean {
  return description.split('\n\n').every((line) => /^`\w+`: /.test(line));
}

function linkCodes(description: string, { 'x-problem-codes': codes }: ApiDescription): string {
  return description.replaceAll(/^`(\w+)`: .*$/gm, (line, name: string) =>
    Object.hasOwn(codes, name) ? `[${code(name)}](../errors.md#${name})` : line,
  );
}

function nameBodies(content: Content): string {
  return Object.entries(content)
    .filter(([mediaType]) => mediaType !== 'application/problem+json')
    .map(([mediaType, { schema }]) => `${code(mediaType)}: ${nameType(schema)}`)
    .join('; ');
}

function writeSchema([name, schema]: readonly [string, ValueSchema]): readonly string[] {
  const choices = (schema.oneOf ?? schema.anyOf ?? []).map((one) => valueSchema.parse(one));
  const items = choices.map((one) => `- ${nameType(one)} ${one.description}`.trimEnd());
  return [`## ${name} {#${name}}`, schema.description, items.join('\n'), writeMembers(schema)];
}

function writeMembers({ properties, required }: ValueSchema): string {
  const rows = Object.entries(properties).map(([name, member]) => {
    const type = `${nameType(member)}${required.includes(name) ? '' : ', optional'}`;
    return [code(name), type, valueSchema.parse(member).description];
  });
  return writeTable(['member', 'type', 'description'], rows);
}

function nameType(schema: unknown): string {
  const parsed = valueSchema.parse(schema);
  const { $ref, items, const: constant, enum: values, 'x-extensible-enum': known } = parsed;
  const choices = parsed.anyOf ?? parsed.oneOf;
  if ($ref !== '') return `[${$ref}](schemas.md#${$ref})`;
  if (choices !== undefined) return [...new Set(choices.map(nameType))].join(' or ');
  if (constant !== undefined) return code(constant);
  if (values !== undefined) return values.map(code).join(', ');
  if (known !== undefined) return `${known.map(code).join(', ')} or others`;
  return items === undefined ? nameSimple(parsed) : `array of ${nameType(items)}`;
}

function nameSimple({ type, properties, minimum, maximum }: ValueSchema): string {
  const members = Object.entries(properties).map(([name, member]) => {
    const { const: constant } = valueSchema.parse(member);
    return constant === undefined ? name : `${name}: ${JSON.stringify(constant)}`;
  });
  if (members.length > 0) return code(`{ ${members.join(', ')} }`);
  const from = minimum === undefined ? '' : ` from ${minimum}`;
  return `${[type].flat().join(' or ')}${from}${maximum === undefined ? '' : ` to ${maximum}`}`;
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function writeTable(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const toRow = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.trim().replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`;
  const lines = [names, names.map(() => '---'), ...rows].map(toRow);
  return rows.length === 0 ? '' : lines.join('\n');
}

const maxLines = 12;

function writeCommand(operation: Operation, api: ApiDescription): string {
  const { requestBody, security } = operation;
  const { schemas } = api.components;
  const isPrivate = security.some((one) => 'adminToken' in one);
  const sent = Object.entries(requestBody.content).map(([mediaType, { schema }]) => {
    const [sample = {}] = (schemas[schema.$ref] ?? schema).examples ?? [];
    const body = JSON.stringify(sample).replaceAll("'", "'\\''");
    return ` -H 'Content-Type: ${mediaType}' -d '${body}'`;
  });
  const token = isPrivate ? ' -H "Authorization: Bearer $PERCH_ADMIN_TOKEN"' : '';
  return `\`\`\`sh\ncurl${writeMethod(operation)}${token}${sent.join('')} '${writeUrl(operation, api)}'\n\`\`\``;
}

/** Writes the start of the recorded example reply as Markdown; an empty string without one. */
function writeReply({ responses }: Operation, { components }: ApiDescription): string {
  const [reply] = Object.values(responses); // in the order of their statuses
  const body = reply?.content['application/json'] ?? Object.values(reply?.content ?? {})[0];
  const [recorded] = Object.values(body?.examples ?? {});
  const value = components.examples[recorded?.$ref ?? '']?.value;
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value.trimEnd() : JSON.stringify(value, null, 2);
  const lines = text.split('\n');
  const shown = lines.length > maxLines ? [...lines.slice(0, maxLines), '…'] : lines;
  return `\`\`\`\`\n${shown.join('\n')}\n\`\`\`\``;
}

function writeMethod({ method, responses }: Operation): string {
  if (Object.keys(responses)[0]?.startsWith('3')) return ' -I';
  return method === 'GET' ? '' : ` -X ${method}`;
}

const chosen = /^(?:handle|id|platform|format)$/;
const samples: Readonly<Record<string, string>> = { platform: 'archive', format: 'json' };

function writeUrl({ path, parameters }: Operation, { servers: [{ url }] }: ApiDescription): string {
  const filled = parameters
    .filter((one) => one.in === 'path')
    .reduce((to, one) => to.replace(`{${one.name}}`, encodeURI(sampleOf(one))), path);
  const sent = parameters
    .filter((one) => one.in === 'query' && (one.required || chosen.test(one.name)))
    .map((one) => `${one.name}=${encodeComponent(sampleOf(one))}`);
  return `${url}${filled}${sent.length === 0 ? '' : '?'}${sent.join('&')}`.replaceAll("'", '%27');
}

function sampleOf({ name, schema, example }: Operation['parameters'][number]): string {
  const values = schema.enum ?? schema.examples ?? [];
  const known = values.find((value) => value === samples[name]) ?? example ?? values[0];
  return String(known ?? name.toUpperCase());
}
