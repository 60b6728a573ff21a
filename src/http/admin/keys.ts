import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type KeyRecord, keyChanges, newKey, toKeyMembers } from '../../access/keys/key-record.ts';
import type { KeyStore } from '../../access/keys/key-store.ts';
import type { Origins } from '../../core/http/origins.ts';
import { Problem, quoteInput } from '../../core/problem.ts';
import { closeToPages } from '../../web/cors.ts';
import { routeNotFound } from '../../web/errors.ts';
import { refuseOtherMethods } from '../../web/methods.ts';
import { privateCaching } from '../../web/reply.ts';
import { listNames, parseFields, readJsonBodies } from './body.ts';
import type { AdminGuard } from './guard.ts';
import { keysPath } from './keys-endpoints.ts';

/** The context of the admin routes. */
export interface AdminKeysOptions {
  /** Lets the operator alone in. */
  readonly guard: AdminGuard;
  readonly keys: Pick<KeyStore, 'list' | 'create' | 'change' | 'remove' | 'rotate'>;
  /** Perch's own address, without a trailing slash. */
  readonly baseUrl: string;
  readonly origins: Origins;
}

/**
 * Registers the admin interface: the keys under `/api/admin/keys`, and the guard
 * for every path under `/api/admin` and `/admin`, whether it exists or not.
 */
export async function adminKeysPlugin(app: FastifyInstance, options: AdminKeysOptions) {
  closeToPages(app, options.origins);
  app.addHook('onRequest', options.guard);
  readJsonBodies(app);
  registerKeys(app, options);
  registerKey(app, options);
  registerRotation(app, options);
  for (const url of ['/admin', '/admin/*', '/api/admin', '/api/admin/*']) refuseAll(app, url);
}

/** A path with an id at its end. */
interface OneKey {
  readonly Params: { readonly id: string };
}

function registerKeys(app: FastifyInstance, { keys, baseUrl }: AdminKeysOptions): void {
  app.get(keysPath, async (_request, reply) => {
    const records = await keys.list();
    return sendJson(reply, { keys: records.map(toKeyMembers) });
  });
  app.post(keysPath, async (request, reply) => {
    const made = await keys.create(parseFields(newKey, request.body));
    return sendMade(reply, made, baseUrl);
  });
  refuseOtherMethods(app, keysPath, { allow: ['GET', 'HEAD', 'POST'] });
}

function registerKey(app: FastifyInstance, { keys }: AdminKeysOptions): void {
  const url = `${keysPath}/:id`;
  app.get<OneKey>(url, async ({ params }, reply) => {
    const record = (await keys.list()).find(({ id }) => id === params.id);
    return sendRecord(reply, record, params.id);
  });
  app.patch<OneKey>(url, async ({ params, body }, reply) => {
    const changes = parseFields(keyChanges, body);
    if (Object.keys(changes).length === 0) throw nothingToChange();
    return sendRecord(reply, await keys.change(params.id, changes), params.id);
  });
  app.delete<OneKey>(url, async ({ params, body }, reply) => {
    refuseFields(body);
    if (!(await keys.remove(params.id))) throw unknownKey(params.id);
    return setHeaders(reply).code(204).send();
  });
  refuseOtherMethods(app, url, { allow: ['GET', 'HEAD', 'PATCH', 'DELETE'] });
}

function registerRotation(app: FastifyInstance, { keys, baseUrl }: AdminKeysOptions): void {
  const url = `${keysPath}/:id/rotate`;
  app.post<OneKey>(url, async ({ params, body }, reply) => {
    refuseFields(body);
    const made = await keys.rotate(params.id);
    if (made === undefined) throw unknownKey(params.id);
    return sendMade(reply, made, baseUrl);
  });
  refuseOtherMethods(app, url, { allow: ['POST'] });
}

/** Answers whoever passes the guard at a path that no route has. */
function refuseAll(app: FastifyInstance, url: string): void {
  const refuse = async (request: FastifyRequest) => {
    throw routeNotFound(request);
  };
  const method = [...app.supportedMethods];
  app.route({ method, url, exposeHeadRoute: false, onRequest: refuse, handler: refuse });
}

const noFields = z.strictObject({});

/** A body that would change nothing is refused, so that nobody believes that it did. */
function refuseFields(body: unknown): void {
  if (body !== undefined) parseFields(noFields, body);
}

/** Sends a key, which is shown this once. */
function sendMade(
  reply: FastifyReply,
  { record, key }: { readonly record: KeyRecord; readonly key: string },
  baseUrl: string,
): FastifyReply {
  reply.code(201).header('location', `${baseUrl}${keysPath}/${record.id}`);
  return sendJson(reply, { ...toKeyMembers(record), key });
}

function sendRecord(reply: FastifyReply, record: KeyRecord | undefined, id: string): FastifyReply {
  if (record === undefined) throw unknownKey(id);
  return sendJson(reply, toKeyMembers(record));
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

function unknownKey(id: string): Problem {
  return new Problem('not_found', { detail: `There is no key with the id ${quoteInput(id)}.` });
}

function nothingToChange(): Problem {
  const fields = listNames(Object.keys(keyChanges.shape));
  return new Problem('invalid_body', {
    detail: `The body has no field; it takes at least one of ${fields}.`,
  });
}
