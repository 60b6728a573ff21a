import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { keyChanges, newKey, toKeyMembers } from '../../access/keys/key-record.ts';
import type { IssuedKey, KeyStore } from '../../access/keys/key-store.ts';
import { jsonMediaTypes } from '../../core/http/json-bodies.ts';
import type { Origins } from '../../core/http/origins.ts';
import { Problem, quoteInput } from '../../core/problem.ts';
import { closeToPages } from '../../web/cors.ts';
import { routeNotFound } from '../../web/errors.ts';
import { refuseOtherMethods } from '../../web/methods.ts';
import { privateCaching } from '../../web/reply.ts';
import type { AdminGuard } from './guard.ts';
import { keysPath } from './keys-endpoints.ts';

interface AdminKeysOptions {
  readonly guard: AdminGuard;
  readonly keys: Pick<KeyStore, 'list' | 'create' | 'change' | 'remove' | 'rotate'>;
  readonly baseUrl: string;
  readonly origins: Origins;
}

interface OneKey {
  readonly Params: { readonly id: string };
}

/** Registers `/api/admin/keys`, and the guard for every path under `/api/admin` and `/admin`, whether it exists or not. */
export async function adminKeysPlugin(app: FastifyInstance, options: AdminKeysOptions) {
  const { keys, baseUrl } = options;
  closeToPages(app, options.origins);
  app.addHook('onRequest', options.guard);
  readJsonBodies(app);
  registerKey(app, keys);
  app.get(keysPath, async (_request, reply) =>
    sendJson(reply, { keys: (await keys.list()).map(toKeyMembers) }),
  );
  app.post(keysPath, async (request, reply) =>
    sendMade(reply, await keys.create(parseFields(newKey, request.body)), baseUrl),
  );
  refuseOtherMethods(app, keysPath, { allow: ['GET', 'HEAD', 'POST'] });
  const rotation = `${keysPath}/:id/rotate`;
  app.post<OneKey>(rotation, async ({ params, body }, reply) => {
    refuseFields(body);
    return sendMade(reply, known(await keys.rotate(params.id), params.id), baseUrl);
  });
  refuseOtherMethods(app, rotation, { allow: ['POST'] });
  for (const url of ['/admin', '/admin/*', '/api/admin', '/api/admin/*']) refuseAll(app, url);
}

function registerKey(app: FastifyInstance, keys: AdminKeysOptions['keys']): void {
  const url = `${keysPath}/:id`;
  app.get<OneKey>(url, async ({ params }, reply) => {
    const record = (await keys.list()).find(({ id }) => id === params.id);
    return sendJson(reply, toKeyMembers(known(record, params.id)));
  });
  app.patch<OneKey>(url, async ({ params, body }, reply) => {
    const changes = parseFields(keyChanges, body);
    if (Object.keys(changes).length === 0) throw nothingToChange();
    const record = known(await keys.change(params.id, changes), params.id);
    return sendJson(reply, toKeyMembers(record));
  });
  app.delete<OneKey>(url, async ({ params, body }, reply) => {
    refuseFields(body);
    known((await keys.remove(params.id)) || undefined, params.id);
    return setHeaders(reply).code(204).send();
  });
  refuseOtherMethods(app, url, { allow: ['GET', 'HEAD', 'PATCH', 'DELETE'] });
}

function refuseAll(app: FastifyInstance, url: string): void {
  const refuse = async (request: FastifyRequest) => {
    throw routeNotFound(request);
  };
  const method = [...app.supportedMethods];
  app.route({ method, url, exposeHeadRoute: false, onRequest: refuse, handler: refuse });
}

function refuseFields(body: unknown): void {
  if (body !== undefined) parseFields(z.strictObject({}), body);
}

function sendMade(reply: FastifyReply, { record, key }: IssuedKey, baseUrl: string): FastifyReply {
  reply.code(201).header('location', `${baseUrl}${keysPath}/${record.id}`);
  return sendJson(reply, { ...toKeyMembers(record), key });
}

function sendJson(reply: FastifyReply, body: unknown): FastifyReply {
  return setHeaders(reply)
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(body));
}

function setHeaders(reply: FastifyReply): FastifyReply {
  return reply.headers({
    'x-request-id': reply.request.id,
    'x-content-type-options': 'nosniff',
    'cache-control': privateCaching,
  });
}

function known<Found>(found: Found | undefined, id: string): Found {
  if (found !== undefined) return found;
  throw new Problem('not_found', { detail: `There is no key with the id ${quoteInput(id)}.` });
}

function nothingToChange(): Problem {
  const fields = listNames(Object.keys(keyChanges.shape));
  return new Problem('invalid_body', {
    detail: `The body has no field; it takes at least one of ${fields}.`,
  });
}

/** Maximum size of a body in bytes. The longest notes have 2000 characters. */
const maxBodyBytes = 16_384;

function readJsonBodies(app: FastifyInstance): void {
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
function parseFields<Fields extends z.ZodObject>(schema: Fields, body: unknown): z.output<Fields> {
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
