import { METHODS } from 'node:http';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import createRouter, { type Handler } from 'find-my-way';
import { Problem } from '../core/problem.ts';
import { isPreflight } from './cors.ts';
import { maxUrlBytes, routeNotFound } from './errors.ts';

/** The methods that a path answers, and how others are refused. */
interface AllowedMethods {
  readonly allow: readonly string[];
  /** Returns whether a request is for this route at all; default: it is. */
  readonly isRoute?: (request: FastifyRequest) => boolean;
  /** Why other methods are refused; default: which methods the route answers. */
  readonly detail?: string;
  readonly config?: FastifyContextConfig;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The methods of the paths whose other methods no route answers. */
    methodTable: {
      add(url: string, allowed: AllowedMethods): void;
      /** Returns what the path of a request answers, and gives the request the parameters of the path. */
      find(request: FastifyRequest): AllowedMethods | undefined;
    };
  }

  interface FastifyRequest {
    /** What the path of a request answers that no route has for its method. */
    allowed: AllowedMethods | null;
  }
}

/** Returns the configuration of the route of a request, also for a method that the route does not have. */
export function configOf({ allowed, routeOptions }: FastifyRequest): FastifyContextConfig {
  return allowed?.config ?? routeOptions.config ?? {};
}

/**
 * Makes the router know every method that Node can parse, so that each gets a 405 where it is due, and adds the table
 * of methods to the server: a route for each path and method would take a third of the start. Call it before any hook
 * that reads the configuration of a route.
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
      const [path = ''] = (request.raw.url ?? '').split('?', 1);
      const found = router.find('GET', path);
      if (found === null) return undefined;
      request.params = found.params;
      request.allowed = found.store as AllowedMethods; // only `add` fills the router
      return request.allowed;
    },
  } satisfies FastifyInstance['methodTable']);
  app.addHook('onRequest', (request, _reply, done) => {
    if (hasNoRoute(request)) app.methodTable.find(request);
    done();
  });
}

/** `@fastify/cors` has a route for OPTIONS at any path, so that its hook is reached. */
function hasNoRoute({ is404, routeOptions }: FastifyRequest): boolean {
  return is404 || routeOptions.url === '*';
}

/** Refuses unrouted requests before a body is read: 404, 405 with `Allow` (RFC 9110 §15.5.6), or 204 for a preflight. */
export function refuseUnrouted(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!hasNoRoute(request)) return done();
    const problem = refuseMethod(request, reply, request.allowed);
    if (problem !== undefined) done(problem);
  });
}

function refuseMethod(
  request: FastifyRequest,
  reply: FastifyReply,
  allowed: AllowedMethods | null,
): Problem | undefined {
  if (allowed?.isRoute?.(request) === false || allowed === null) return routeNotFound(request);
  if (isPreflight(request) && configOf(request).cors !== false) {
    reply.code(204).send();
    return undefined;
  }
  const { allow, detail = `This route answers ${allow.join(' and ')}.` } = allowed;
  return new Problem('method_not_allowed', { detail, allow });
}

/**
 * Refuses the methods that a path does not have, as `refuseUnrouted` does, with routes of their own. They are for
 * scopes whose hooks come first, such as that of the operator.
 */
export function refuseOtherMethods(app: FastifyInstance, url: string, allowed: AllowedMethods) {
  const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
    const problem = refuseMethod(request, reply, allowed);
    if (problem !== undefined) throw problem;
    return reply;
  };
  const method = app.supportedMethods.filter((name) => !allowed.allow.includes(name));
  const { config = {} } = allowed;
  // Refused on arrival, before a body is read that nobody wants.
  app.route({ method, url, config, onRequest: refuse, handler: refuse });
}
