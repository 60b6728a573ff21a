import type { ApiDescription, Content, Operation, ValueSchema } from './description.ts';
import { apiDescription, valueSchema } from './description.ts';
import { writeExample } from './example.ts';

/** Writes an OpenAPI document as a Markdown page. The headings are tags, operation ids and schema names. */
export function writeApiPage(title: string, document: unknown): string {
  const api = apiDescription.parse(document);
  const operations = Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, one]) => ({ ...one, path, method: method.toUpperCase() })),
  );
  const tags = api.tags.flatMap(({ name, description }) => {
    const own = operations.filter((one) => one.tags.includes(name));
    return [`## ${name}`, description, ...writeOperations(own, api)];
  });
  const schemas = Object.entries(api.components.schemas).flatMap(writeSchema);
  const introduction = `Every operation of this server, from its [OpenAPI description](${api.servers[0].url}/openapi.json) of version ${api.info.version}. The commands with \`ada.example\` run against the sample, without a network. Errors are [Problem](#Problem) documents.`;
  const start = [`# ${title}`, introduction, api.info.description, ...tags];
  const blocks = [...start, '## Schemas', ...schemas];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/**
 * Writes the operations of an OpenAPI tag as Markdown. If two operations differ only in path and
 * id, the second is written as a link to the first.
 */
function writeOperations(operations: readonly Operation[], api: ApiDescription): string[] {
  const written = new Map<string, string>();
  return operations.flatMap((operation) => {
    const { operationId: id, path, method, ...others } = operation;
    const key = JSON.stringify([method, others]);
    const same = written.get(key);
    const address = code(`${method} ${path}`);
    if (same !== undefined) return [`#### ${id}`, `${address}: the same as [${same}](#${same}).`];
    written.set(key, id);
    return [`### ${id}`, address, ...writeOperation(operation, api)];
  });
}

function writeOperation(operation: Operation, api: ApiDescription): readonly string[] {
  const { summary, description, parameters, requestBody, responses } = operation;
  const rows = parameters.map(({ name, in: place, required, schema, ...one }) => {
    const standard = schema.default === undefined ? '' : code(schema.default);
    const where = `${place}${required ? ', required' : ''}`;
    return [code(name), where, nameType(schema), standard, one.description];
  });
  const replies = Object.entries(responses).map(([status, own]) => {
    return { status, ...(api.components.responses[own.$ref] ?? own) };
  });
  const replyRows = replies.map(({ status, content, ...one }) => {
    return [code(status), `${linkCodes(one.description, api)} ${nameBodies(content)}`];
  });
  const bodies = [requestBody, ...replies].flatMap(({ content }) => Object.values(content));
  return [
    summary,
    description,
    writeTable(['parameter', 'in', 'values', 'default', 'description'], rows),
    nameBodies(requestBody.content).replace(/^./, 'Request body: $&'),
    writeTable(['status', 'response'], replyRows),
    // Schemas with a name are at the end of the page.
    ...bodies.map(({ schema }) => writeMembers(schema)),
    writeExample(operation, api),
  ];
}

/** Replaces each line that explains a problem code with a link to the explanation in `errors.md`. */
function linkCodes(description: string, { 'x-problem-codes': codes }: ApiDescription): string {
  return description.replaceAll(/^`(\w+)`: .*$/gm, (line, name: string) =>
    Object.hasOwn(codes, name) ? `[${code(name)}](errors.md#${name})` : line,
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
  return [`### ${name}`, schema.description, items.join('\n'), writeMembers(schema)];
}

function writeMembers({ properties, required }: ValueSchema): string {
  const rows = Object.entries(properties).map(([name, member]) => {
    const type = `${nameType(member)}${required.includes(name) ? '' : ', optional'}`;
    return [code(name), type, valueSchema.parse(member).description];
  });
  return writeTable(['member', 'type', 'description'], rows);
}

/** Returns a short Markdown description of the values that a schema allows. Named schemas become links. */
function nameType(schema: unknown): string {
  const parsed = valueSchema.parse(schema);
  const { $ref, items, const: constant, enum: values, 'x-extensible-enum': known } = parsed;
  const choices = parsed.anyOf ?? parsed.oneOf;
  if ($ref !== '') return `[${$ref}](#${$ref})`;
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

/** Returns a Markdown table, or an empty string if there are no rows. Escapes `|` in cells, even in code (GFM 4.10). */
function writeTable(names: readonly string[], rows: readonly (readonly string[])[]): string {
  const toRow = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.trim().replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')).join(' | ')} |`;
  const lines = [names, names.map(() => '---'), ...rows].map(toRow);
  return rows.length === 0 ? '' : lines.join('\n');
}
