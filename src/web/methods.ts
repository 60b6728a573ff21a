import { METHODS } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import createRouter, { type Handler } from 'find-my-way';
import { Problem } from '../core/problem.ts';
import { isPreflight } from './cors.ts';
import { routeNotFound } from './errors.ts';
import { maxUrlBytes } from './limits.ts';

/** What a path answers. */
export interface AllowedMethods {
  readonly allow: readonly string[];
  /** Tells whether a request is for this route at all; default: it is. */
  readonly isRoute?: (request: FastifyRequest) => boolean;
  /** Gives the headers of every reply of the route; default: none of its own. */
  readonly describe?: (request: FastifyRequest) => Readonly<Record<string, string>>;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The methods of the paths whose other methods no route answers. */
    methodTable: MethodTable;
  }

  interface FastifyRequest {
    /** What the path of a request answers that no route has for its method. */
    allowed: AllowedMethods | null;
  }
}

/** The methods of paths. */
export interface MethodTable {
  add(url: string, allowed: AllowedMethods): void;
  /** Returns what the path of a request answers, and gives the request the parameters of the path. */
  find(request: FastifyRequest): AllowedMethods | undefined;
}

/**
 * Makes the router know every method that Node can parse, so that each gets a 405 where it is due, and adds the table
 * of methods to the server. A route for each path and each of the 35 methods would take a third of the start.
 */
export function setMethods(app: FastifyInstance): void {
  for (const method of METHODS) {
    if (method !== 'CONNECT' && !app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
  const router = createRouter({ maxParamLength: maxUrlBytes });
  const unused: Handler<never> = () => undefined;
  app.decorateRequest('allowed', null);
  app.decorate('methodTable', {
    add: (url, allowed) => router.on('GET', url, unused, allowed),
    find: (request) => {
      const found = router.find('GET', (request.raw.url ?? '').split('?', 1)[0] ?? '');
      if (found === null) return undefined;
      request.params = found.params;
      request.allowed = found.store as AllowedMethods; // only `add` fills the router
      return request.allowed;
    },
  } satisfies MethodTable);
}

/**
 * Refuses what no route has: a method with 405 and `Allow` (RFC 9110 §15.5.6) if the path has others, else the path
 * with 404. A browser that asks whether it may use a method gets 204; `setCors` says what it may do.
 *
 * @returns The problem; `undefined` if the reply is sent.
 */
export function refuseUnrouted(request: FastifyRequest, reply: FastifyReply): Problem | undefined {
  const allowed = request.server.methodTable.find(request);
  if (allowed === undefined) return routeNotFound(request);
  return refuseMethod(request, reply, allowed);
}

function refuseMethod(
  request: FastifyRequest,
  reply: FastifyReply,
  { allow, isRoute = () => true, describe = () => ({}) }: AllowedMethods,
): Problem | undefined {
  if (!isRoute(request)) return routeNotFound(request);
  if (isPreflight(request)) {
    answerPreflight(reply, describe(request));
    return undefined;
  }
  const detail = `This route answers ${allow.join(' and ')}.`;
  return new Problem('method_not_allowed', { detail, allow });
}

/**
 * Refuses the methods that a path does not have, as `refuseUnrouted` does, with routes of their own. They are for
 * scopes whose hooks come first, such as that of the operator.
 */
export function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  allowed: AllowedMethods,
): void {
  const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
    const problem = refuseMethod(request, reply, allowed);
    if (problem !== undefined) throw problem;
    return reply;
  };
  const method = app.supportedMethods.filter((name) => !allowed.allow.includes(name));
  const config = { describe: allowed.describe ?? (() => ({})) };
  // Refused on arrival, before a body is read that nobody wants.
  app.route({ method, url, config, onRequest: refuse, handler: refuse });
}

function answerPreflight(reply: FastifyReply, headers: Readonly<Record<string, string>>) {
  const { vary: _vary, ...others } = headers; // the answer depends on what is asked for alone
  return reply
    .code(204)
    .headers({ ...others, 'x-request-id': reply.request.id, 'x-content-type-options': 'nosniff' })
    .send();
}
