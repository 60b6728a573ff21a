import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { jsonMediaTypes } from '../../core/http/json-bodies.ts';
import { Problem, quoteInput } from '../../core/problem.ts';

/** Maximum size of a body in bytes. The longest notes have 2000 characters. */
const maxBodyBytes = 16_384;

/** Makes a scope accept only JSON bodies. An empty body is `undefined`. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    jsonMediaTypes,
    { parseAs: 'buffer', bodyLimit: maxBodyBytes },
    async (_request: unknown, body: Buffer) => (body.length === 0 ? undefined : parseJson(body)),
  );
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new Problem('invalid_body', { detail: 'The body is not JSON in UTF-8.', cause });
  }
}

/** @throws Problem `invalid_body` if the body is not an object, `invalid_option` for a field */
export function parseFields<Fields extends z.ZodObject>(
  schema: Fields,
  body: unknown,
): z.output<Fields> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem('invalid_body', {
      detail: `The body is ${nameKind(body)}; it takes a JSON object.`,
    });
  }
  const parsed = schema.safeParse(body, { reportInput: true });
  if (parsed.success) return parsed.data;
  const fields = listNames(Object.keys(schema.shape));
  throw new Problem('invalid_option', { detail: tellIssue(parsed.error.issues[0], fields) });
}

/** Lists names as prose: `label`, `allowance` and `notes`. */
export function listNames(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  const last = quoted.pop() ?? 'no fields';
  return quoted.length === 0 ? last : `${quoted.join(', ')} and ${last}`;
}

function nameKind(body: unknown): string {
  if (body === undefined) return 'empty';
  if (body === null) return 'null';
  return Array.isArray(body) ? 'an array' : `a ${typeof body}`;
}

function tellIssue(issue: z.core.$ZodIssue | undefined, fields: string): string {
  if (issue === undefined) return `The body has a fault; it takes ${fields}.`;
  if (issue.code === 'unrecognized_keys') {
    return `The field ${quoteInput(issue.keys[0] ?? '')} is unknown; the body takes ${fields}.`;
  }
  const field = `The field \`${issue.path.join('.')}\``;
  if (issue.input === undefined) return `${field} is missing; the body takes ${fields}.`;
  return `${field} is ${quoteValue(issue.input)}; it ${tellForm(issue)}.`;
}

function quoteValue(value: unknown): string {
  if (typeof value === 'string') return quoteInput(value);
  return typeof value === 'object' && value !== null ? nameKind(value) : String(value);
}

/** Only our own messages of the schema begin with `must `. */
function tellForm(issue: z.core.$ZodIssue): string {
  if (issue.message.startsWith('must ')) return issue.message;
  return issue.code === 'invalid_type' ? `must be a ${issue.expected}` : 'must have another form';
}
