import { encodeComponent } from '../../../../lib/http/encode-component.ts';
import type { ApiDescription, Operation } from './description.ts';

const maxLines = 12;

export function writeCommand(operation: Operation, api: ApiDescription): string {
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
export function writeReply({ responses }: Operation, { components }: ApiDescription): string {
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
