import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { keyChanges, keyMembers, newKey, toKeyMembers } from '../../access/keys/key-record.ts';
import type { IssuedKey, KeyStore } from '../../access/keys/key-store.ts';
import { jsonMediaTypes, parseJsonBody } from '../../lib/http/json-bodies.ts';
import type { Origins } from '../../lib/http/origins.ts';
import type { JsonSchema } from '../../lib/json-schema.ts';
import { Problem, quoteInput } from '../../lib/problem.ts';
import { disableCompression } from '../compression.ts';
import { rejectOtherOrigins } from '../cors.ts';
import { privateCaching } from '../headers.ts';
import { declareRoutes, type EndpointReply, refuseAll, serveRoutes } from '../route.ts';
import { type ConnectionOptions, registerConnection, sendJson } from './connection.ts';
import type { AdminGuard } from './guard.ts';

interface AdminOptions extends AdminKeysOptions, ConnectionOptions {
  readonly guard: AdminGuard;
  readonly origins: Origins;
  readonly describe: () => JsonSchema;
}

/** Registers the admin API. All paths under `/api/admin` require the admin token. */
export async function adminPlugin(app: FastifyInstance, options: AdminOptions) {
  rejectOtherOrigins(app, options.origins);
  disableCompression(app);
  app.addHook('onRequest', options.guard.requireToken);
  readJsonBodies(app);
  registerKeys(app, options);
  registerConnection(app, options);
  serveRoutes(app, adminDescriptionRoutes, {
    getAdminOpenApi: (_request, reply) => sendJson(reply, options.describe()),
  });
  for (const url of ['/api/admin', '/api/admin/*']) refuseAll(app, url);
}

function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    jsonMediaTypes,
    { parseAs: 'buffer', bodyLimit: 16_384 },
    async (_request: unknown, body: Buffer) =>
      body.length === 0 ? undefined : parseJsonBody(body),
  );
}

export const adminDescriptionRoutes = declareRoutes(
  { method: 'GET', tag: 'operator', access: 'operator', problems: [] },
  {
    getAdminOpenApi: {
      path: '/api/admin/openapi.json',
      title: 'Get the OpenAPI description of the admin API',
      summary: 'Describes the routes for the operator (OpenAPI 3.1).',
      replies: [
        {
          status: 200,
          description: 'The description.',
          content: {
            'application/json': z.object({ openapi: z.string() }).meta({ id: 'AdminOpenApi' }),
          },
        },
      ],
    },
  },
);

const keysPath = '/api/admin/keys';

interface AdminKeysOptions {
  readonly keys: Pick<KeyStore, 'list' | 'create' | 'change' | 'remove' | 'rotate'>;
  readonly baseUrl: string;
}

type OneKey = FastifyRequest<{ Params: { readonly id: string } }>;

/** Registers the API key routes. `app` must be a scope that requires the admin token. */
function registerKeys(app: FastifyInstance, { keys, baseUrl }: AdminKeysOptions): void {
  serveRoutes(app, adminKeysRoutes, {
    listKeys: async (_request, reply) =>
      sendJson(reply, { keys: (await keys.list()).map(toKeyMembers) }),
    createKey: async ({ body }, reply) =>
      sendMade(reply, await keys.create(parseFields(newKey, body)), baseUrl),
    getKey: async ({ params: { id } }: OneKey, reply) => {
      const record = (await keys.list()).find((one) => one.id === id);
      return sendJson(reply, toKeyMembers(known(record, id)));
    },
    changeKey: async ({ params: { id }, body }: OneKey, reply) => {
      const changes = parseFields(keyChanges, body);
      if (Object.keys(changes).length === 0) {
        const fields = listNames(Object.keys(keyChanges.shape));
        const detail = `The body has no fields. Send at least one of ${fields}.`;
        throw new Problem('invalid_body', { detail });
      }
      return sendJson(reply, toKeyMembers(known(await keys.change(id, changes), id)));
    },
    deleteKey: async ({ params: { id }, body }: OneKey, reply) => {
      refuseFields(body);
      known((await keys.remove(id)) || undefined, id);
      return reply.code(204).header('cache-control', privateCaching).send();
    },
    rotateKey: async ({ params: { id }, body }: OneKey, reply) => {
      refuseFields(body);
      return sendMade(reply, known(await keys.rotate(id), id), baseUrl);
    },
  });
}

function refuseFields(body: unknown): void {
  if (body !== undefined) parseFields(z.strictObject({}), body);
}

function sendMade(reply: FastifyReply, { record, key }: IssuedKey, baseUrl: string): FastifyReply {
  reply.code(201).header('location', `${baseUrl}${keysPath}/${record.id}`);
  return sendJson(reply, { ...toKeyMembers(record), key });
}

function known<Found>(found: Found | undefined, id: string): Found {
  if (found !== undefined) return found;
  throw new Problem('not_found', { detail: `There is no key with the id ${quoteInput(id)}.` });
}

function parseFields<Fields extends z.ZodObject>(schema: Fields, body: unknown): z.output<Fields> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const detail = `The body is ${nameKind(body)}. Send a JSON object.`;
    throw new Problem('invalid_body', { detail });
  }
  const parsed = schema.safeParse(body, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const detail = describeIssue(issue, listNames(Object.keys(schema.shape)));
  const param = issue?.path[0]; // absent for unknown fields, whose names can be long
  throw new Problem('invalid_option', { detail, param: param?.toString() });
}

function listNames(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  const last = quoted.pop() ?? 'no fields';
  return quoted.length === 0 ? last : `${quoted.join(', ')} and ${last}`;
}

function nameKind(body: unknown): string {
  if (body === undefined) return 'empty';
  if (body === null) return 'null';
  return Array.isArray(body) ? 'an array' : `a ${typeof body}`;
}

function describeIssue(issue: z.core.$ZodIssue | undefined, fields: string): string {
  if (issue === undefined) return `The body is invalid. The body accepts ${fields}.`;
  if (issue.code === 'unrecognized_keys') {
    return `The field ${quoteInput(issue.keys[0] ?? '')} is unknown. The body accepts ${fields}.`;
  }
  const field = `The field \`${issue.path.join('.')}\``;
  if (issue.input === undefined) return `${field} is missing. The body accepts ${fields}.`;
  return `${field} is ${quoteValue(issue.input)}; it ${describeRequirement(issue)}.`;
}

function quoteValue(value: unknown): string {
  if (typeof value === 'string') return quoteInput(value);
  return typeof value === 'object' && value !== null ? nameKind(value) : String(value);
}

function describeRequirement(issue: z.core.$ZodIssue): string {
  if (issue.message.startsWith('must ')) return issue.message;
  return issue.code === 'invalid_type' ? `must be a ${issue.expected}` : 'must have another format';
}

const madeKey = keyMembers
  .extend({
    key: z
      .string()
      .describe(
        'The API key, which callers send as a bearer token. Only this response contains the key.',
      ),
  })
  .meta({ id: 'MadeKey' });

const created: EndpointReply = {
  status: 201,
  description: 'The key was created.',
  content: { 'application/json': madeKey },
  headers: { Location: { description: 'The URL of the key.' } },
};

const bodyProblems = [
  'invalid_body',
  'invalid_option',
  'payload_too_large',
  'unsupported_media_type',
] as const;

function describeKey(description: string): EndpointReply {
  return { status: 200, description, content: { 'application/json': keyMembers } };
}

const onOne = {
  path: `${keysPath}/{id}`,
  parameters: { path: z.object({ id: z.string().describe('Id of the API key.') }) },
} as const;

const changes = [...bodyProblems, 'not_found', 'key_store_unavailable'] as const;

export const adminKeysRoutes = declareRoutes(
  { tag: 'operator', access: 'operator' },
  {
    listKeys: {
      method: 'GET',
      path: keysPath,
      title: 'List the API keys',
      summary: 'Lists the API keys.',
      replies: [
        {
          status: 200,
          description: 'All keys.',
          content: {
            'application/json': z.object({ keys: z.array(keyMembers) }).meta({ id: 'KeyList' }),
          },
        },
      ],
      problems: ['key_store_unavailable'],
    },
    createKey: {
      method: 'POST',
      path: keysPath,
      title: 'Create an API key',
      summary: 'Creates a key and returns it once.',
      body: { 'application/json': newKey },
      replies: [created],
      problems: [...bodyProblems, 'key_store_unavailable'],
    },
    getKey: {
      ...onOne,
      method: 'GET',
      title: 'Get an API key',
      summary: 'Returns the record of a key.',
      replies: [describeKey('The key.')],
      problems: ['not_found', 'key_store_unavailable'],
    },
    changeKey: {
      ...onOne,
      method: 'PATCH',
      title: 'Change an API key',
      summary: 'Changes the given fields of a key.',
      body: { 'application/json': keyChanges },
      replies: [describeKey('The key after the change.')],
      problems: changes,
    },
    deleteKey: {
      ...onOne,
      method: 'DELETE',
      title: 'Delete an API key',
      summary: 'Deletes a key, which is invalid from the next request on.',
      replies: [{ status: 204, description: 'The key was deleted.' }],
      problems: changes,
    },
    rotateKey: {
      ...onOne,
      path: `${onOne.path}/rotate`,
      method: 'POST',
      title: 'Replace an API key',
      summary: 'Creates a new key with the fields of an old one, and deletes the old one.',
      replies: [created],
      problems: changes,
    },
  },
);
